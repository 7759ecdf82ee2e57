// Tests that depend on time: up to three attempts, because load of the machine can fail one. Each attempt has a timeout.

import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const maxAttempts = 3
const pauseMs = 1_000
const timeoutMs = 70_000

export interface Cleanup {
  after(close: () => unknown): void
}

interface Attempt extends Cleanup {
  skip(why: string): void
}

export function timedTest(title: string, body: (attempt: Attempt) => Promise<void>): void {
  test(title, async (context) => {
    for (let number = 1; ; number++) {
      try {
        return await runAttempt(context, body)
      } catch (error) {
        if (number === maxAttempts) throw error
        context.diagnostic(`attempt failed, retrying: ${String(error).slice(0, 300)}`)
        await sleep(pauseMs)
      }
    }
  })
}

async function runAttempt(context: TestContext, body: (attempt: Attempt) => Promise<void>): Promise<void> {
  const cleanups: (() => unknown)[] = []
  const ended = new AbortController()
  const timeout = sleep(timeoutMs, undefined, { signal: ended.signal }).then(
    () => Promise.reject(new Error(`test did not end within ${timeoutMs} ms`)),
    () => undefined,
  )
  try {
    await Promise.race([body({ after: (close) => void cleanups.push(close), skip: (why) => context.skip(why) }), timeout])
  } finally {
    ended.abort()
    for (const close of cleanups.reverse()) await close()
  }
}
