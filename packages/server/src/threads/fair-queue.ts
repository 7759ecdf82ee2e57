// Queue of tasks for the worker threads, fair between users: next is a task of the user whose tasks have run for the shortest time.

export interface QueuedTask {
  readonly user: string
  readonly bytes: number
}

/** The limits of one user are lower than those of all users, so that one user cannot fill the queue. */
interface QueueLimits {
  readonly maxBytes: number
  readonly maxUserBytes: number
  readonly maxUserRunning: number
}

interface Share<T> {
  usedMs: number
  running: number
  bytes: number
  readonly tasks: T[]
}

/** Users without tasks are forgotten beyond this number. */
const maxUsers = 1000

export class FairQueue<T extends QueuedTask> {
  readonly #limits: QueueLimits
  readonly #shares = new Map<string, Share<T>>()
  #bytes = 0
  /** Used time of the last served user. New and idle users start at least with this time, so that they cannot monopolize the threads. */
  #servedMs = 0

  constructor(limits: QueueLimits) {
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
    for (const share of this.#shares.values()) {
      const isRunnable = share.tasks.length > 0 && share.running < this.#limits.maxUserRunning
      if (isRunnable && (next === undefined || share.usedMs < next.usedMs)) next = share
    }
    const task = next?.tasks.shift()
    if (next === undefined || task === undefined) return undefined
    this.#servedMs = next.usedMs
    next.running += 1
    this.#count(next, -task.bytes)
    return task
  }

  remove(task: T): boolean {
    const share = this.#shares.get(task.user)
    const index = share?.tasks.indexOf(task) ?? -1
    if (share === undefined || index < 0) return false
    share.tasks.splice(index, 1)
    this.#count(share, -task.bytes)
    return true
  }

  /** Accounts for a task that has run for `ms`. */
  end(user: string, ms: number): void {
    const share = this.#shareOf(user)
    share.usedMs += ms
    share.running -= 1
  }

  clear(): readonly T[] {
    const all = [...this.#shares.values()].flatMap(({ tasks }) => tasks.splice(0))
    this.#bytes = 0
    return all
  }

  #count(share: Share<T>, bytes: number): void {
    share.bytes += bytes
    this.#bytes += bytes
  }

  #shareOf(user: string): Share<T> {
    const existing = this.#shares.get(user)
    if (existing !== undefined) return existing
    if (this.#shares.size >= maxUsers)
      for (const [idle, { tasks, running }] of this.#shares) if (tasks.length + running === 0) this.#shares.delete(idle)
    const share: Share<T> = { usedMs: this.#servedMs, running: 0, bytes: 0, tasks: [] }
    this.#shares.set(user, share)
    return share
  }
}
