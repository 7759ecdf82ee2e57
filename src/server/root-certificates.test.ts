// A list that a thread reads once for the process.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { timedTest } from '../base/timed-test.fixture.js'
import { readRootCertificates } from './root-certificates.js'

const module = fileURLToPath(new URL('root-certificates.js', import.meta.url))

/** In a process of its own, how much processor time the first context takes there. */
function firstContextMs(load: number): number {
  const program = `
    import { once } from 'node:events'
    import { createSecureContext } from 'node:tls'
    import { readRootCertificates } from ${JSON.stringify(module)}
    const thread = readRootCertificates(${load})
    thread?.ref()
    if (thread !== undefined) await once(thread, 'exit')
    const begun = process.cpuUsage()
    createSecureContext()
    const { user, system } = process.cpuUsage(begun)
    console.log((user + system) / 1000)`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', env: {} }))
}

timedTest('the thread reads what the first context of the process needs', async (context) => {
  if (availableParallelism() === 1) return context.skip('one processor')
  const [without, withThread] = [firstContextMs(1e6), firstContextMs(-1)]
  assert.ok(withThread < without / 2, `${withThread} ms, and ${without} without it`)
})

test('a busy machine gets no thread', () => assert.equal(readRootCertificates(1e6), undefined))
