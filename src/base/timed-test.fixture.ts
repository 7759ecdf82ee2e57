// Tests of what takes time or happens in time: a machine that is busy with something else may spoil one try, and hardly all of them.

import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const tries = 3
const pauseMs = 1_000

/** Like `test`, and fails when it fails each of three times; what goes wrong before is told beside the result. */
export function timedTest(title: string, body: (context: TestContext) => Promise<void>): void {
  test(title, async (context) => {
    for (let number = 1; ; number++) {
      try {
        return await body(context)
      } catch (error) {
        if (number === tries) throw error
        context.diagnostic(`tried again after: ${String(error).slice(0, 300)}`)
        await sleep(pauseMs)
      }
    }
  })
}
