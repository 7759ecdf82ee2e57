// Tests of what takes time or happens in time: a machine that is busy with something else may spoil one try, and hardly all of them.

import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const tries = 3
const pauseMs = 1_000
/** Longer than what a test waits for by itself, which says more. */
const limitMs = 70_000

/** What a test opens is closed when it ends, well or not; of a timed test, when the try ends. */
export interface Closing {
  after(close: () => unknown): void
}

export interface Attempt extends Closing {
  skip(why: string): void
}

/** Like `test`, and fails when it fails each of three times; what goes wrong before is told beside the result. */
export function timedTest(title: string, body: (attempt: Attempt) => Promise<void>): void {
  test(title, async (context) => {
    for (let number = 1; ; number++) {
      try {
        return await oneTry(context, body)
      } catch (error) {
        if (number === tries) throw error
        context.diagnostic(`tried again after: ${String(error).slice(0, 300)}`)
        await sleep(pauseMs)
      }
    }
  })
}

/** What a failed try leaves open would spoil the next one, and keep the process alive. */
async function oneTry(context: TestContext, body: (attempt: Attempt) => Promise<void>): Promise<void> {
  const opened: (() => unknown)[] = []
  const ended = new AbortController()
  const limit = sleep(limitMs, undefined, { signal: ended.signal }).then(
    () => Promise.reject(new Error(`has not ended after ${limitMs} ms`)),
    () => undefined,
  )
  try {
    await Promise.race([body({ after: (close) => void opened.push(close), skip: (why) => context.skip(why) }), limit])
  } finally {
    ended.abort()
    for (const close of opened.reverse()) await close()
  }
}
