// Tasks that wait for a worker thread, fair between users: next is a task of the user who has used the least processor time.

export interface QueuedTask {
  readonly user: string
  readonly bytes: number
}

export interface QueueLimits {
  /** Inputs of all waiting tasks together. */
  readonly maxBytes: number
  /** Of one user: others always find room. */
  readonly maxUserBytes: number
}

interface Share<T> {
  usedMs: number
  bytes: number
  readonly tasks: T[]
}

/** Users without tasks are forgotten beyond this number. */
const maxIdleUsers = 1000

export class FairQueue<T extends QueuedTask> {
  readonly #limits: QueueLimits
  readonly #shares = new Map<string, Share<T>>()
  #bytes = 0
  /** What the user served last had used: a new user starts here, and not with a claim to all time that others have used. */
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
    share.bytes += task.bytes
    this.#bytes += task.bytes
    return true
  }

  take(): T | undefined {
    let next: Share<T> | undefined
    for (const share of this.#shares.values()) {
      if (share.tasks.length > 0 && (next === undefined || share.usedMs < next.usedMs)) next = share
    }
    const task = next?.tasks.shift()
    if (next === undefined || task === undefined) return undefined
    this.#servedMs = next.usedMs
    next.bytes -= task.bytes
    this.#bytes -= task.bytes
    return task
  }

  /** A task whose client is gone. */
  remove(task: T): boolean {
    const share = this.#shares.get(task.user)
    const at = share?.tasks.indexOf(task) ?? -1
    if (share === undefined || at < 0) return false
    share.tasks.splice(at, 1)
    share.bytes -= task.bytes
    this.#bytes -= task.bytes
    return true
  }

  /** A task of this user has run for so long. */
  charge(user: string, ms: number): void {
    this.#shareOf(user).usedMs += ms
  }

  clear(): readonly T[] {
    const all = [...this.#shares.values()].flatMap(({ tasks }) => tasks)
    this.#shares.clear()
    this.#bytes = 0
    return all
  }

  #shareOf(user: string): Share<T> {
    const known = this.#shares.get(user)
    if (known !== undefined) return known
    if (this.#shares.size >= maxIdleUsers) this.#forgetIdle()
    const share: Share<T> = { usedMs: this.#servedMs, bytes: 0, tasks: [] }
    this.#shares.set(user, share)
    return share
  }

  #forgetIdle(): void {
    for (const [user, { tasks }] of this.#shares) if (tasks.length === 0) this.#shares.delete(user)
  }
}
