// Queue of pods without a node: the highest priority first, then the longest wait. A pod that failed waits for a change that may help, and
// at least its back-off.

const firstBackOffMs = 1000
const maxBackOffMs = 10_000
/** A failed pod is tried again after this time even if nothing changed. */
const maxWaitMs = 300_000

interface QueuedPod {
  readonly key: string
  readonly priority: number
  /** `taken`: a decision or its writes are under way. */
  state: 'active' | 'taken' | 'backOff' | 'waiting'
  attempts: number
  sinceMs: number
  /** Plugins that refused the pod at its last attempt; `*`: any change may help. */
  plugins: ReadonlySet<string>
}

export class SchedulingQueue {
  readonly #pods = new Map<string, QueuedPod>()
  /** The next pod is last. Pods that were removed or are no longer active are skipped. */
  readonly #active: QueuedPod[] = []
  readonly #backOff = new Set<QueuedPod>()
  readonly #waiting = new Set<QueuedPod>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  has(key: string): boolean {
    return this.#pods.has(key)
  }

  get hasActive(): boolean {
    return this.#active.length > 0
  }

  /** Pods that failed and wait for a change. */
  get waiting(): ReadonlySet<QueuedPod> {
    return this.#waiting
  }

  add(key: string, priority: number): void {
    if (this.#pods.has(key)) return
    const pod: QueuedPod = { key, priority, state: 'active', attempts: 0, sinceMs: this.#now(), plugins: new Set() }
    this.#pods.set(key, pod)
    this.#enter(pod, 'active')
  }

  remove(key: string): void {
    const pod = this.#pods.get(key)
    if (pod === undefined) return
    this.#enter(pod, 'taken')
    this.#pods.delete(key)
  }

  take(): string | undefined {
    for (;;) {
      const pod = this.#active.pop()
      if (pod === undefined) return undefined
      if (pod.state !== 'active') continue
      this.#enter(pod, 'taken')
      pod.attempts += 1
      return pod.key
    }
  }

  /** The pod found no node. `plugins` undefined: an error; the pod is tried again after the back-off, without a change. */
  fail(key: string, plugins: ReadonlySet<string> | undefined): void {
    const pod = this.#pods.get(key)
    if (pod === undefined) return
    pod.plugins = plugins ?? new Set()
    pod.sinceMs = this.#now()
    this.#enter(pod, plugins === undefined ? 'backOff' : 'waiting')
  }

  /** Something changed that may help a pod that waits. */
  wake(key: string): void {
    const pod = this.#pods.get(key)
    if (pod?.state === 'waiting') this.#enter(pod, dueMs(pod) > this.#now() ? 'backOff' : 'active')
  }

  /** Activates pods whose back-off has passed, and pods that have waited for `maxWaitMs`. */
  release(): void {
    const nowMs = this.#now()
    for (const pod of this.#backOff) if (dueMs(pod) <= nowMs) this.#enter(pod, 'active')
    for (const pod of this.#waiting) if (pod.sinceMs + maxWaitMs <= nowMs) this.#enter(pod, 'active')
  }

  /** Milliseconds until `release` has something to do; undefined: never. */
  get nextReleaseMs(): number | undefined {
    let nextMs = Number.POSITIVE_INFINITY
    for (const pod of this.#backOff) nextMs = Math.min(nextMs, dueMs(pod))
    for (const pod of this.#waiting) nextMs = Math.min(nextMs, pod.sinceMs + maxWaitMs)
    return nextMs === Number.POSITIVE_INFINITY ? undefined : Math.max(1, nextMs - this.#now())
  }

  #enter(pod: QueuedPod, state: QueuedPod['state']): void {
    this.#backOff.delete(pod)
    this.#waiting.delete(pod)
    pod.state = state
    if (state === 'backOff') this.#backOff.add(pod)
    else if (state === 'waiting') this.#waiting.add(pod)
    else if (state === 'active') this.#insert(pod)
  }

  #insert(pod: QueuedPod): void {
    let low = 0
    let high = this.#active.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isAfter(this.#active[middle] as QueuedPod, pod)) low = middle + 1
      else high = middle
    }
    this.#active.splice(low, 0, pod)
  }
}

const dueMs = ({ sinceMs, attempts }: QueuedPod): number =>
  sinceMs + Math.min(firstBackOffMs * 2 ** Math.max(0, attempts - 1), maxBackOffMs)

const isAfter = (a: QueuedPod, b: QueuedPod): boolean => a.priority < b.priority || (a.priority === b.priority && a.sinceMs > b.sinceMs)
