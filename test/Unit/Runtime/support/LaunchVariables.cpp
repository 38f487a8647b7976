#include "LaunchVariables.h"

#include <cstdlib>
#include <sstream>

namespace par::test {

using rt::TransportKind;

static const char *const launchVariables[] = {"OMPI_COMM_WORLD_SIZE",
                                              "OMPI_COMM_WORLD_RANK",
                                              "OMPI_COMM_WORLD_LOCAL_SIZE",
                                              "OMPI_COMM_WORLD_LOCAL_RANK",
                                              "PMIX_RANK",
                                              "PMIX_NAMESPACE",
                                              "PMI_SIZE",
                                              "PMI_RANK",
                                              "PMI_FD",
                                              "WORLD_SIZE",
                                              "RANK",
                                              "LOCAL_RANK",
                                              "LOCAL_WORLD_SIZE",
                                              "GROUP_RANK",
                                              "GROUP_WORLD_SIZE",
                                              "MASTER_ADDR",
                                              "MASTER_PORT",
                                              "TORCHELASTIC_RUN_ID",
                                              "TORCHELASTIC_USE_AGENT_STORE",
                                              "CROSS_RANK",
                                              "CROSS_SIZE",
                                              "LOCAL_SIZE",
                                              "SLURM_JOB_ID",
                                              "SLURM_JOBID",
                                              "SLURM_STEP_ID",
                                              "SLURM_STEPID",
                                              "SLURM_STEP_NUM_TASKS",
                                              "SLURM_NTASKS",
                                              "SLURM_NPROCS",
                                              "SLURM_PROCID",
                                              "SLURM_LOCALID",
                                              "SLURM_NODELIST",
                                              "SLURM_JOB_NODELIST",
                                              "SLURM_STEP_NODELIST",
                                              "PAR_SECRET_FILE",
                                              "MV2_COMM_WORLD_RANK",
                                              "MV2_COMM_WORLD_SIZE",
                                              "MPI_LOCALRANKID",
                                              "MPI_LOCALNRANKS",
                                              "PALS_RANKID",
                                              "ALPS_APP_PE",
                                              "FLUX_TASK_RANK",
                                              "FLUX_JOB_SIZE",
                                              "JSM_NAMESPACE_RANK",
                                              "JSM_NAMESPACE_SIZE",
                                              "HOROVOD_RANK",
                                              "HOROVOD_SIZE"};

void setOnly(const Variables &variables) {
  for (const char *name : launchVariables)
    unsetenv(name);
  for (const auto &[name, value] : variables)
    setenv(name.c_str(), value.c_str(), 1);
}

std::string LaunchDraw::text() const {
  std::string text = situation + ":";
  for (const auto &[name, value] : variables)
    text += " " + name + "=" + value;
  return text;
}

namespace {

std::string text(int number) { return std::to_string(number); }
std::string pair(const char *size, int sizeValue, const char *rank, int rankValue) {
  return std::string(size) + "=" + text(sizeValue) + ", " + rank + "=" + text(rankValue);
}

/// One process of a job on several machines: the numbers that launchers give it, and where they write them.
struct Process {
  LaunchDraw &draw;
  int machines, perMachine, machine, local;

  int size() const { return machines * perMachine; }
  int rank() const { return machine * perMachine + local; }
  void set(const std::string &name, const std::string &value) { draw.variables[name] = value; }
  void set(const std::string &name, int value) { set(name, text(value)); }

  void mpirun(int size, int rank, int localSize) {
    set("OMPI_COMM_WORLD_SIZE", size), set("OMPI_COMM_WORLD_RANK", rank);
    set("OMPI_COMM_WORLD_LOCAL_SIZE", localSize), set("OMPI_COMM_WORLD_LOCAL_RANK", rank % localSize);
    set("PMIX_RANK", rank), set("PMIX_NAMESPACE", "4711");
  }
  void numbers(int size, int rank) { set("WORLD_SIZE", size), set("RANK", rank); }
  void master(const std::string &address) { set("MASTER_ADDR", address), set("MASTER_PORT", "29511"); }
  void torchrun() {
    numbers(size(), rank());
    set("LOCAL_RANK", local), set("LOCAL_WORLD_SIZE", perMachine);
    set("GROUP_RANK", machine), set("GROUP_WORLD_SIZE", machines);
    set("TORCHELASTIC_RUN_ID", "none"), set("TORCHELASTIC_USE_AGENT_STORE", "True");
    master("node0");
  }
  void torchrunOfOne() {
    Process{draw, 1, 1, 0, 0}.torchrun();
    master("own");
  }
  void deepspeed() {
    numbers(size(), rank());
    set("LOCAL_RANK", local), set("LOCAL_SIZE", perMachine);
    set("CROSS_RANK", machine), set("CROSS_SIZE", machines);
    master("node0");
  }
  void hydra(int size, int rank) { set("PMI_SIZE", size), set("PMI_RANK", rank), set("PMI_FD", 5); }
  /// The script of sbatch: one process with a few variables of the job.
  void sbatch() {
    set("SLURM_JOB_ID", 77), set("SLURM_NTASKS", size()), set("SLURM_NPROCS", size());
    set("SLURM_NODELIST", "job[1-9]"), set("SLURM_JOB_NODELIST", "job[1-9]");
    set("SLURM_PROCID", 0), set("SLURM_LOCALID", 0);
  }
  void srun(int tasks, int rank) {
    sbatch();
    set("SLURM_STEP_ID", 0), set("SLURM_STEPID", 0), set("SLURM_STEP_NUM_TASKS", tasks);
    set("SLURM_NTASKS", tasks), set("SLURM_NPROCS", tasks), set("SLURM_PROCID", rank);
    set("SLURM_STEP_NODELIST", machines == 1 ? "step3" : "step[3-8]");
    if (machines > 1)
      set("PAR_SECRET_FILE", "secret");
  }
  void flux() { set("FLUX_TASK_RANK", rank()), set("FLUX_JOB_SIZE", size()); }
  /// What a launcher that par does not know sets; `without` is how to take it away.
  void refuseOther(const std::string &names, const std::string &without) {
    refuse({names + " says that this is one of several processes", "MASTER_ADDR", without + " par-run"});
  }
  std::string stepAddress() const { return machines == 1 ? "127.0.0.1" : "step3"; }

  void alone() {}
  void follow(int size, int rank, TransportKind transport, const std::string &address) {
    draw.size = size, draw.rank = rank, draw.transport = transport, draw.address = address;
  }
  void followAll(TransportKind transport, const std::string &address) {
    follow(size(), rank(), transport, address);
  }
  void refuse(std::vector<std::string> parts) { draw.refused = std::move(parts); }
};

struct Situation {
  const char *name;
  void (*make)(Process &process);
};

const auto tcp = TransportKind::tcp, mpi = TransportKind::mpi, local = TransportKind::local;

// Every job has two processes or more. "A > B": A started B, which started par-run.
const Situation situations[] = {
    {"no launcher", [](Process &p) { p.alone(); }},
    {"sbatch", [](Process &p) { p.sbatch(); }},
    {"salloc, whose shell is a step of its own",
     [](Process &p) {
       p.srun(p.size(), 0);
       p.set("SLURM_STEP_ID", "4294967290"), p.set("SLURM_STEPID", "4294967290");
     }},
    {"srun of one task",
     [](Process &p) {
       p.machines = 1;
       p.srun(1, 0), p.follow(1, 0, local, "127.0.0.1");
     }},
    {"mpirun",
     [](Process &p) {
       p.mpirun(p.size(), p.rank(), p.perMachine);
       p.followAll(mpi, p.machines == 1 ? "127.0.0.1" : "");
     }},
    {"torchrun", [](Process &p) { p.torchrun(), p.followAll(tcp, "node0"); }},
    {"DeepSpeed's launcher", [](Process &p) { p.deepspeed(), p.followAll(tcp, "node0"); }},
    {"by hand, or a PyTorchJob of Kubernetes",
     [](Process &p) { p.numbers(p.size(), p.rank()), p.master("node0"), p.followAll(tcp, "node0"); }},
    {"mpiexec.hydra", [](Process &p) { p.hydra(p.size(), p.rank()), p.followAll(mpi, ""); }},
    {"srun", [](Process &p) { p.srun(p.size(), p.rank()), p.followAll(tcp, p.stepAddress()); }},
    {"srun on several machines without a secret",
     [](Process &p) {
       p.machines += 1;
       p.srun(p.size(), p.rank());
       p.draw.variables.erase("PAR_SECRET_FILE");
       p.followAll(tcp, p.stepAddress());
       p.draw.unmet = "PAR_SECRET_FILE";
     }},
    {"srun without a word of the number of tasks but the job's",
     [](Process &p) {
       p.srun(p.size(), p.rank());
       p.draw.variables.erase("SLURM_STEP_NUM_TASKS"), p.draw.variables.erase("SLURM_STEPID");
       p.followAll(tcp, p.stepAddress());
     }},
    {"srun --mpi=pmix",
     [](Process &p) {
       p.srun(p.size(), p.rank()), p.set("PMIX_RANK", p.rank()), p.followAll(mpi, p.stepAddress());
     }},
    {"srun --mpi=pmi2",
     [](Process &p) {
       p.srun(p.size(), p.rank()), p.hydra(p.size(), p.rank()), p.followAll(tcp, p.stepAddress());
     }},
    {"srun > a script that names torchrun's variables",
     [](Process &p) {
       p.srun(p.size(), p.rank()), p.numbers(p.size(), p.rank()), p.followAll(tcp, p.stepAddress());
     }},
    {"sbatch > srun, with MASTER_ADDR and WORLD_SIZE of the script",
     [](Process &p) {
       p.srun(p.size(), p.rank()), p.set("WORLD_SIZE", p.size()), p.master("first");
       p.followAll(tcp, "first");
     }},
    {"mpirun > a script that names torchrun's variables",
     [](Process &p) {
       p.mpirun(p.size(), p.rank(), p.perMachine), p.numbers(p.size(), p.rank()), p.master("node0");
       p.followAll(mpi, "node0");
     }},
    {"mpirun > torchrun",
     [](Process &p) { p.mpirun(p.machines, p.machine, 1), p.torchrun(), p.followAll(tcp, "node0"); }},
    {"mpirun > torchrun, as the case writes it",
     [](Process &p) {
       p.set("OMPI_COMM_WORLD_SIZE", 1), p.set("OMPI_COMM_WORLD_RANK", 0);
       p.machines = 1, p.machine = 0, p.perMachine += 1;
       p.torchrun(), p.followAll(tcp, "node0");
     }},
    {"mpirun > DeepSpeed's launcher",
     [](Process &p) { p.mpirun(p.machines, p.machine, 1), p.deepspeed(), p.followAll(tcp, "node0"); }},
    {"srun > torchrun",
     [](Process &p) { p.srun(p.machines, p.machine), p.torchrun(), p.followAll(tcp, "node0"); }},
    {"sbatch > torchrun", [](Process &p) { p.sbatch(), p.torchrun(), p.followAll(tcp, "node0"); }},
    {"PyTorchJob > torchrun",
     [](Process &p) {
       p.numbers(p.machines, p.machine), p.master("pod"), p.torchrun(), p.followAll(tcp, "node0");
     }},
    {"mpirun > torchrun of one process each",
     [](Process &p) {
       p.mpirun(p.size(), p.rank(), p.perMachine), p.torchrunOfOne();
       p.followAll(mpi, p.machines == 1 ? "127.0.0.1" : "");
     }},
    {"torchrun of one process > mpirun",
     [](Process &p) {
       p.torchrunOfOne(), p.mpirun(p.size(), p.rank(), p.size());
       p.followAll(mpi, "127.0.0.1");
     }},
    {"srun > torchrun of one process each",
     [](Process &p) { p.srun(p.size(), p.rank()), p.torchrunOfOne(), p.followAll(tcp, p.stepAddress()); }},
    {"mpirun whose processes on other machines srun started",
     [](Process &p) {
       p.srun(p.machines, p.machine), p.mpirun(p.size(), p.rank(), p.perMachine);
       bool same = p.machines == p.size();
       p.followAll(mpi, p.machines == 1 ? "127.0.0.1" : same ? "step3" : "");
     }},
    {"sbatch > mpirun",
     [](Process &p) {
       p.sbatch(), p.mpirun(p.size(), p.rank(), p.perMachine);
       p.followAll(mpi, p.machines == 1 ? "127.0.0.1" : "");
     }},
    {"mpirun of one process > srun",
     [](Process &p) { p.mpirun(1, 0, 1), p.srun(p.size(), p.rank()), p.followAll(tcp, p.stepAddress()); }},
    {"mpirun, and RANK and WORLD_SIZE=1 of a container",
     [](Process &p) {
       p.mpirun(p.size(), p.rank(), p.size()), p.numbers(1, 0), p.followAll(mpi, "127.0.0.1");
     }},
    {"mpirun, and numbers left over of another run",
     [](Process &p) {
       p.mpirun(p.size(), p.rank(), p.perMachine), p.numbers(p.size() + 1, p.rank());
       p.refuse({pair("OMPI_COMM_WORLD_SIZE", p.size(), "OMPI_COMM_WORLD_RANK", p.rank()),
                 pair("WORLD_SIZE", p.size() + 1, "RANK", p.rank()), "contradict each other",
                 "env -u WORLD_SIZE -u RANK par-run"});
     }},
    {"mpirun, and another RANK",
     [](Process &p) {
       int other = (p.rank() + 1) % p.size();
       p.mpirun(p.size(), p.rank(), p.perMachine), p.numbers(p.size(), other);
       p.refuse({pair("WORLD_SIZE", p.size(), "RANK", other), "contradict each other"});
     }},
    {"mpirun, and half of another run",
     [](Process &p) {
       p.mpirun(p.size(), p.rank(), p.perMachine), p.set("WORLD_SIZE", p.size() + 2);
       p.refuse({"WORLD_SIZE=" + text(p.size() + 2) + " contradict each other"});
     }},
    {"srun, and numbers left over",
     [](Process &p) {
       p.srun(p.size(), p.rank()), p.numbers(p.size() + 1, p.rank()), p.master("x");
       p.refuse({pair("WORLD_SIZE", p.size() + 1, "RANK", p.rank()),
                 pair("SLURM_STEP_NUM_TASKS", p.size(), "SLURM_PROCID", p.rank()), "contradict each other"});
     }},
    {"mpirun and mpiexec.hydra",
     [](Process &p) {
       p.mpirun(p.size(), p.rank(), p.perMachine), p.hydra(p.size() + 1, p.rank());
       p.refuse(
           {"OMPI_COMM_WORLD_SIZE=", pair("PMI_SIZE", p.size() + 1, "PMI_RANK", p.rank()), "contradict"});
     }},
    {"mpirun > several runs of torchrun",
     [](Process &p) {
       p.machines = 1, p.machine = 0, p.perMachine += 2;
       p.torchrun(), p.mpirun(2, 1, 2);
       p.refuse({"WORLD_SIZE=" + text(p.size()), "GROUP_WORLD_SIZE=1",
                 "OMPI_COMM_WORLD_SIZE=2, OMPI_COMM_WORLD_RANK=1", "torchrun --nnodes"});
     }},
    {"srun > several runs of mpirun",
     [](Process &p) {
       p.srun(p.size() + 1, 0), p.mpirun(p.size(), p.rank(), p.size());
       p.refuse({"OMPI_COMM_WORLD_SIZE=", "SLURM_STEP_NUM_TASKS=" + text(p.size() + 1), "contradict"});
     }},
    {"RANK alone",
     [](Process &p) {
       p.set("RANK", p.rank()), p.refuse({"RANK=" + text(p.rank()), "set RANK and WORLD_SIZE"});
     }},
    {"WORLD_SIZE alone",
     [](Process &p) {
       p.set("WORLD_SIZE", p.size()), p.master("x");
       p.draw.address = "x";
       p.refuse({"WORLD_SIZE=" + text(p.size()), "set RANK and WORLD_SIZE"});
     }},
    {"the mark of torchrun alone",
     [](Process &p) {
       p.set("TORCHELASTIC_RUN_ID", "none");
       p.refuse({"TORCHELASTIC_RUN_ID=none is set", "env -u TORCHELASTIC_RUN_ID par-run"});
     }},
    {"the mark of DeepSpeed's launcher alone",
     [](Process &p) {
       p.set("CROSS_SIZE", 2), p.refuse({"CROSS_SIZE=2 is set", "env -u CROSS_SIZE par-run"});
     }},
    {"numbers within a machine alone",
     [](Process &p) {
       p.machines = 1, p.machine = 0, p.perMachine += 1;
       p.set("LOCAL_RANK", p.local), p.set("LOCAL_WORLD_SIZE", p.perMachine);
       p.refuseOther(pair("LOCAL_WORLD_SIZE", p.perMachine, "LOCAL_RANK", p.local),
                     "env -u LOCAL_WORLD_SIZE -u LOCAL_RANK");
     }},
    {"a task of srun whose step is not said",
     [](Process &p) {
       p.sbatch(), p.set("SLURM_PROCID", p.size() - 1);
       p.refuseOther("SLURM_PROCID=" + text(p.size() - 1), "env -u SLURM_PROCID");
     }},
    {"Flux",
     [](Process &p) {
       p.flux();
       p.refuseOther(pair("FLUX_JOB_SIZE", p.size(), "FLUX_TASK_RANK", p.rank()),
                     "env -u FLUX_JOB_SIZE -u FLUX_TASK_RANK");
     }},
    {"Flux > mpirun of one process each",
     [](Process &p) {
       p.flux(), p.mpirun(1, 0, 1);
       p.draw.address = "127.0.0.1";
       p.refuse({"FLUX_JOB_SIZE=" + text(p.size()), "env -u FLUX_JOB_SIZE -u FLUX_TASK_RANK par-run"});
     }},
    {"Flux > a script that names torchrun's variables",
     [](Process &p) {
       p.flux(), p.numbers(p.size(), p.rank()), p.master("node0"), p.followAll(tcp, "node0");
     }},
    {"Flux of one task", [](Process &p) { p.set("FLUX_TASK_RANK", 0), p.set("FLUX_JOB_SIZE", 1); }},
    {"Intel MPI, of which only numbers within a machine are left",
     [](Process &p) {
       p.set("MPI_LOCALRANKID", 0), p.set("MPI_LOCALNRANKS", p.size());
       p.refuseOther(pair("MPI_LOCALNRANKS", p.size(), "MPI_LOCALRANKID", 0),
                     "env -u MPI_LOCALNRANKS -u MPI_LOCALRANKID");
     }},
    {"MVAPICH",
     [](Process &p) {
       p.set("MV2_COMM_WORLD_RANK", p.rank()), p.set("MV2_COMM_WORLD_SIZE", p.size());
       p.refuseOther(pair("MV2_COMM_WORLD_SIZE", p.size(), "MV2_COMM_WORLD_RANK", p.rank()),
                     "env -u MV2_COMM_WORLD_SIZE -u MV2_COMM_WORLD_RANK");
     }},
    {"launchers of which only a rank is known",
     [](Process &p) {
       const char *names[] = {"PALS_RANKID", "ALPS_APP_PE", "JSM_NAMESPACE_RANK", "HOROVOD_RANK"};
       std::string name = names[p.rank() % 4];
       p.set(name, p.rank()), p.refuseOther(name + "=" + text(p.rank()), "env -u " + name);
     }},
    {"PMIx alone",
     [](Process &p) { p.set("PMIX_RANK", p.rank()), p.refuse({"PMIX_RANK=", "set RANK and WORLD_SIZE"}); }},
};

} // namespace

size_t LaunchDraws::situations() { return std::size(test::situations); }

LaunchDraw LaunchDraws::next() {
  auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const Situation &situation = test::situations[size_t(draw(0, int(situations()) - 1))];
  LaunchDraw made;
  made.situation = situation.name;
  int machines = draw(1, 4), perMachine = draw(machines == 1 ? 2 : 1, 8);
  Process process{made, machines, perMachine, draw(0, machines - 1), draw(0, perMachine - 1)};
  // What services of Kubernetes, shells and other jobs leave behind, and says nothing.
  if (draw(0, 3) == 0)
    process.set("MASTER_PORT", "tcp://10.96.0.1:2222");
  if (draw(0, 3) == 0)
    process.set("LOCAL_RANK", "0");
  if (draw(0, 3) == 0)
    process.set("GROUP_RANK", "0"), process.set("SLURM_JOBID", "12");
  situation.make(process);
  return made;
}

std::vector<Variables> withoutWhatIsNamed(const Variables &variables, const std::string &message) {
  std::vector<Variables> all;
  std::istringstream words(message);
  bool names = false;
  for (std::string word; words >> word;) {
    if (word == "env")
      all.push_back(variables);
    if (names)
      all.back().erase(word);
    names = word == "-u";
  }
  return all;
}

} // namespace par::test
