// Heavy requests that wait for the thread: users have their turns one after the other, and nobody can fill the queue for everybody.

import { mastersGroup, type User } from '../../api/user.js'
import { getOrInsert } from '../../base/get-or-insert.js'

export interface Waiting {
  readonly user: User
  /** Whether somebody still waits for the answer. */
  readonly isWanted: () => boolean
}

export interface QueueLimits {
  readonly total: number
  readonly ofOneUser: number
}

export class HeavyQueue<Job extends Waiting> {
  readonly #limits: QueueLimits
  /** Told of jobs that nobody wants any more, when they leave the queue. */
  readonly #drop: (job: Job) => void
  /** In the order of their turns. */
  readonly #byUser = new Map<string, Job[]>()
  /** Of those whom the limits are for. */
  #limited = 0

  constructor(limits: QueueLimits, drop: (job: Job) => void) {
    this.#limits = limits
    this.#drop = drop
  }

  /** False where there is no room. Masters always have some: those who could repair a cluster must not be kept out by those who flood it. */
  add(job: Job): boolean {
    if (isLimited(job) && this.#isFullFor(job)) {
      this.#dropUnwanted()
      if (this.#isFullFor(job)) return false
    }
    getOrInsert(this.#byUser, job.user.name, () => []).push(job)
    if (isLimited(job)) this.#limited += 1
    return true
  }

  /** Takes a job of the user whose turn it is; of those who may begin none now the next turn is theirs. */
  next(mayBegin: (user: User) => boolean = () => true): Job | undefined {
    for (const [user, jobs] of this.#byUser) {
      const [first] = jobs
      if (first !== undefined && !mayBegin(first.user)) continue
      // The user goes to the end.
      this.#byUser.delete(user)
      const job = this.#firstWanted(jobs)
      if (jobs.length > 0) this.#byUser.set(user, jobs)
      if (job !== undefined) return job
    }
    return undefined
  }

  /** Whether somebody else waits. */
  hasOther(user: User): boolean {
    return this.#byUser.size > (this.#byUser.has(user.name) ? 1 : 0)
  }

  clear(): readonly Job[] {
    const all = [...this.#byUser.values()].flat()
    this.#byUser.clear()
    this.#limited = 0
    return all
  }

  #isFullFor({ user }: Job): boolean {
    const own = this.#byUser.get(user.name)?.length ?? 0
    return own >= this.#limits.ofOneUser || this.#limited >= this.#limits.total
  }

  #firstWanted(jobs: Job[]): Job | undefined {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      if (isLimited(job)) this.#limited -= 1
      if (job.isWanted()) return job
      this.#drop(job)
    }
    return undefined
  }

  #dropUnwanted(): void {
    for (const job of this.clear()) {
      if (!job.isWanted()) {
        this.#drop(job)
        continue
      }
      getOrInsert(this.#byUser, job.user.name, () => []).push(job)
      if (isLimited(job)) this.#limited += 1
    }
  }
}

const isLimited = ({ user }: Waiting): boolean => !user.groups.includes(mastersGroup)
