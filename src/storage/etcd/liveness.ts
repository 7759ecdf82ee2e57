// Notices that the other side of a connection is gone without having said so: stopped, unplugged, or behind a wall that swallows packets.
//
// A ping is sent when a call waits longer than usual, or when nothing was heard for a while; no byte in answer to it means that nobody is there.
// etcd takes more than one ping in five seconds for an attack, so there are never more.

export interface LivenessOptions {
  readonly receivedBytes: () => number
  /** Since when the oldest call waits, in terms of performance.now(). */
  readonly waitingSinceMs: () => number | undefined
  readonly ping: () => void
  readonly dead: () => void
}

const lookMs = 500
const longWaitMs = 1500
const quietMs = 10_000
const betweenPingsMs = 5500
const patienceMs = 2500

/** Watches until the returned function is called. */
export function watchLiveness({ receivedBytes, waitingSinceMs, ping, dead }: LivenessOptions): () => void {
  let lookedMs = performance.now()
  let heardMs = lookedMs
  let heardBytes = receivedBytes()
  let pingedMs = Number.NEGATIVE_INFINITY
  let isPinging = false

  const look = (): void => {
    const nowMs = performance.now()
    const wasAway = nowMs - lookedMs > lookMs + 1000
    lookedMs = nowMs
    if (receivedBytes() !== heardBytes) {
      heardBytes = receivedBytes()
      heardMs = nowMs
      isPinging = false
    }
    // After having been stopped itself, this process must first read what has arrived meanwhile.
    if (wasAway) {
      pingedMs = isPinging ? nowMs : pingedMs
      return
    }
    if (isPinging) {
      if (nowMs - pingedMs > patienceMs) dead()
      return
    }
    const waitsLong = nowMs - Math.max(waitingSinceMs() ?? nowMs, heardMs) > longWaitMs
    if ((waitsLong || nowMs - heardMs > quietMs) && nowMs - pingedMs > betweenPingsMs) {
      isPinging = true
      pingedMs = nowMs
      ping()
    }
  }

  const timer = setInterval(look, lookMs).unref()
  return () => clearInterval(timer)
}
