// Tasks of the client benchmark: lists, watches and GETs of ConfigMaps. Each task of each client runs in its own process.

export interface Task {
  readonly operation: keyof ClientUnderTest
  /** Path of the kubeconfig. */
  readonly configuration: string
  readonly namespace: string
  readonly count: number
  /** resourceVersion from which watches start. */
  readonly resourceVersion: string
  /** Folder of @kubernetes/client-node. */
  readonly library: string
}

export interface TaskCost {
  /** CPU time of the task, without start and imports. */
  readonly cpuMicroseconds: number
  /** Peak memory of the process. */
  readonly peakBytes: number
}

/** A client library: each function runs a task and returns the number of received objects. */
interface ClientUnderTest {
  list(task: Task): Promise<number>
  /** Reads type, name and version of each event, as a controller that queues keys does. */
  watch(task: Task): Promise<number>
  /** Like `watch`, with a callback per event instead of an iterator. client-node has only callbacks and uses them for `watch`, too. */
  watchByCallback(task: Task): Promise<number>
  /** Like `watch`, but parses the object of every event. */
  watchObjects(task: Task): Promise<number>
  get(task: Task): Promise<number>
}

/** Runs the task of the command line and prints its cost. */
export async function runTask(open: (task: Task) => Promise<ClientUnderTest>): Promise<void> {
  const task = JSON.parse(process.argv[2] ?? '') as Task
  const client = await open(task)
  const before = process.cpuUsage()
  const received = await client[task.operation](task)
  const { user, system } = process.cpuUsage(before)
  if (received !== task.count) throw new Error(`received ${received} of ${task.count} objects`)
  const cost: TaskCost = { cpuMicroseconds: user + system, peakBytes: process.resourceUsage().maxRSS * 1024 }
  process.stdout.write(JSON.stringify(cost), () => process.exit(0))
}
