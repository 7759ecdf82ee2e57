// Tasks that wait for a worker thread, fair between users: next is a task of the user whose tasks have run for the shortest time.

export interface QueuedTask {
  readonly user: string
  /** Size of the inputs. */
  readonly bytes: number
}

interface Share<T> {
  /** Time that tasks have run, and an estimate for those that run now. */
  usedMs: number
  bytes: number
  readonly tasks: T[]
}

/** Users without tasks are forgotten beyond this number. */
const maxUsers = 1000

export class FairQueue<T extends QueuedTask> {
  readonly #limits: { readonly maxBytes: number; readonly maxUserBytes: number }
  readonly #shares = new Map<string, Share<T>>()
  #bytes = 0
  /** Level of the user served last: a new user starts here, so that it cannot monopolize the threads. */
  #servedMs = 0

  /** `maxUserBytes`: other users always find room. */
  constructor(limits: { readonly maxBytes: number; readonly maxUserBytes: number }) {
    this.#limits = limits
  }

  get bytes(): number {
    return this.#bytes
  }

  /** False if the queue is full. A single task always fits into an empty queue. */
  add(task: T): boolean {
    const share = this.#shareOf(task.user)
    const { maxBytes, maxUserBytes } = this.#limits
    if (share.bytes > 0 && share.bytes + task.bytes > maxUserBytes) return false
    if (this.#bytes > 0 && this.#bytes + task.bytes > maxBytes) return false
    if (share.tasks.length === 0) share.usedMs = Math.max(share.usedMs, this.#servedMs)
    share.tasks.push(task)
    this.#count(share, task.bytes)
    return true
  }

  take(): T | undefined {
    let next: Share<T> | undefined
    for (const share of this.#shares.values())
      if (share.tasks.length > 0 && (next === undefined || share.usedMs < next.usedMs)) next = share
    const task = next?.tasks.shift()
    if (next === undefined || task === undefined) return undefined
    this.#servedMs = next.usedMs
    this.#count(next, -task.bytes)
    return task
  }

  /** A task whose client has disconnected. */
  remove(task: T): boolean {
    const share = this.#shares.get(task.user)
    const at = share?.tasks.indexOf(task) ?? -1
    if (share === undefined || at < 0) return false
    share.tasks.splice(at, 1)
    this.#count(share, -task.bytes)
    return true
  }

  charge(user: string, ms: number): void {
    this.#shareOf(user).usedMs += ms
  }

  #count(share: Share<T>, bytes: number): void {
    share.bytes += bytes
    this.#bytes += bytes
  }

  #shareOf(user: string): Share<T> {
    const known = this.#shares.get(user)
    if (known !== undefined) return known
    if (this.#shares.size >= maxUsers) for (const [idle, { tasks }] of this.#shares) if (tasks.length === 0) this.#shares.delete(idle)
    const share: Share<T> = { usedMs: this.#servedMs, bytes: 0, tasks: [] }
    this.#shares.set(user, share)
    return share
  }
}
