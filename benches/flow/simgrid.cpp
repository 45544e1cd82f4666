// A flow problem (see crates/flowsim/examples/flow_problem.rs) run by SimGrid: same channels, same paths, same flows.
//
//   g++ -O2 -o simgrid-flows simgrid.cpp -lsimgrid
//   ./simgrid-flows problem.txt times.txt
//
// The problem: "channels N", N capacities in bytes a second; "routes N", lines "from to k channel...";
// "phases N", each "flows N" and lines "from to bytes". Phases run one after the other; all flows of one begin together.
// Times of ends, in seconds since the beginning of the phase, one a line, go to the second file; processor time of the
// simulation alone to standard output.
#include <simgrid/s4u.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <vector>
#include <map>
namespace sg4 = simgrid::s4u;
struct Flow { int from, to; double bytes; };
int main(int argc, char** argv)
{
  sg4::Engine e(&argc, argv);
  sg4::Engine::set_config("network/model:CM02");
  sg4::Engine::set_config("network/crosstraffic:0");
  sg4::Engine::set_config("network/TCP-gamma:0");
  std::ifstream in(argv[1]);
  std::string word;
  size_t n;
  in >> word >> n;
  auto* zone = sg4::create_full_zone("zone");
  std::vector<sg4::Link*> links;
  for (size_t i = 0; i < n; i++) {
    double capacity;
    in >> capacity;
    links.push_back(zone->create_link("c" + std::to_string(i), capacity)->set_latency(0)->seal());
  }
  size_t hosts_count;
  in >> word >> hosts_count;
  std::vector<sg4::Host*> hosts;
  for (size_t i = 0; i < hosts_count; i++)
    hosts.push_back(zone->create_host("h" + std::to_string(i), "1Gf")->seal());
  in >> word >> n;
  for (size_t i = 0; i < n; i++) {
    int from, to, k, c;
    in >> from >> to >> k;
    std::vector<sg4::LinkInRoute> route;
    while (k--) { in >> c; route.emplace_back(links[c]); }
    zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, route, false);
  }
  zone->seal();
  size_t phases_count;
  in >> word >> phases_count;
  std::vector<std::vector<Flow>> phases(phases_count);
  for (auto& phase : phases) {
    in >> word >> n;
    phase.resize(n);
    for (auto& f : phase) in >> f.from >> f.to >> f.bytes;
  }
  std::ofstream out(argv[2]);
  out.precision(15);
  sg4::Actor::create("main", hosts[0], [&] {
    for (auto& phase : phases) {
      double begin = sg4::Engine::get_clock();
      std::vector<sg4::CommPtr> all;
      for (auto& f : phase) all.push_back(sg4::Comm::sendto_async(hosts[f.from], hosts[f.to], f.bytes));
      for (auto& c : all) c->wait();
      for (auto& c : all) out << c->get_finish_time() - begin << "\n";
    }
  });
  auto wall = std::chrono::steady_clock::now();
  clock_t cpu = clock();
  e.run();
  double w = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
  printf("simgrid %.6f s cpu, %.6f s wall, simulated %.9f s\n", double(clock() - cpu) / CLOCKS_PER_SEC, w, sg4::Engine::get_clock());
}
