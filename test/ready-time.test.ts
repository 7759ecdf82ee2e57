// What the benchmark asks the system about threads.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { getPriority, platform } from 'node:os'
import { describe, test } from 'node:test'
import { createReadyTime, mainThread, putLast } from '../bench/ready-time.js'

describe('threads of a process', { skip: platform() === 'linux' ? false : 'only Linux tells of threads' }, () => {
  test('how long one stood ready only grows, and is 0 where it cannot be known', async () => {
    const readyMs = createReadyTime(mainThread(process.pid))
    const before = readyMs()
    assert.ok(before >= 0)
    await new Promise((resolve) => setTimeout(resolve, 5))
    assert.ok(readyMs() >= before)
    assert.equal(createReadyTime('/proc/self/task/none')(), 0)
  })

  test('a process is put behind others with all of its threads', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000); console.log("here")'])
    try {
      await once(child.stdout, 'data')
      const pid = child.pid ?? 0
      putLast(pid)
      const threads = readdirSync(`/proc/${pid}/task`).map(Number)
      assert.ok(threads.length > 1)
      for (const thread of threads) assert.equal(getPriority(thread), 10)
    } finally {
      child.kill()
    }
  })
})
