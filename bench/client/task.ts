// What a client does in a process of its own while it is measured; the same for every client.

export interface Task {
  readonly work: keyof Subject
  /** The file of client configuration. */
  readonly configuration: string
  readonly namespace: string
  readonly count: number
  /** Where a watch begins. */
  readonly resourceVersion: string
  /** Where npm's client is installed. */
  readonly library: string
}

export interface Spent {
  /** Of the work alone, without the start and the loading of the library. */
  readonly cpuMicroseconds: number
  /** Of the whole process, at its highest. */
  readonly peakBytes: number
}

/** A client: each function does the work and answers with how many objects it saw. */
export interface Subject {
  list(task: Task): Promise<number>
  /** What a controller does that puts keys into a queue: type, name and version of each event. */
  watch(task: Task): Promise<number>
  /** The same, with a function that is called for each event, which is the only way of theirs. */
  watchByFunction(task: Task): Promise<number>
  /** The object of every event. */
  watchObjects(task: Task): Promise<number>
  get(task: Task): Promise<number>
}

export async function perform(open: (task: Task) => Promise<Subject>): Promise<void> {
  const task = JSON.parse(process.argv[2] ?? '') as Task
  const subject = await open(task)
  const before = process.cpuUsage()
  const seen = await subject[task.work](task)
  const { user, system } = process.cpuUsage(before)
  if (seen !== task.count) throw new Error(`${seen} of ${task.count} objects were seen`)
  const spent: Spent = { cpuMicroseconds: user + system, peakBytes: process.resourceUsage().maxRSS * 1024 }
  process.stdout.write(JSON.stringify(spent), () => process.exit(0))
}
