// Workers that cannot start: with the server, or in place of another.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { until } from '../../../../test/kit/fixtures.js'
import { commandPath } from '../../../../test/kit/paths.js'
import { newFolder, ServerProcess } from '../../../../test/kit/server-process.js'

interface Starting {
  readonly primary: ChildProcess
  readonly workers: readonly number[]
  readonly stderr: () => string
}

describe('worker processes that cannot start', () => {
  let folder: string
  before(() => {
    folder = newFolder()
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** Resolves when the worker processes run; none is ready. */
  async function begin(): Promise<Starting> {
    const primary = spawn(process.execPath, [commandPath, '--secure-port=0', `--data-dir=${folder}`, '--workers=2'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    primary.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
    })
    const children = `/proc/${primary.pid}/task/${primary.pid}/children`
    const workers = await until(
      async () => readFileSync(children, 'utf8').trim().split(' ').filter(Boolean).map(Number),
      ({ length }) => length === 2,
    )
    return { primary, workers, stderr: () => stderr }
  }

  const untilGone = (pids: readonly number[]) =>
    until(
      async () => pids.filter((pid) => existsSync(`/proc/${pid}`)),
      ({ length }) => length === 0,
    )

  test('a worker that is killed fails the start; no other is started', async () => {
    const { primary, workers, stderr } = await begin()
    process.kill(workers[0] as number, 'SIGKILL')
    const [code] = await once(primary, 'close')
    assert.equal(code, 1)
    assert.match(stderr(), /^cluster-apiserver: worker process 1 ended before it was ready \(SIGKILL\)$/m)
    assert.doesNotMatch(stderr(), /starting another/)
    await untilGone(workers)
  })

  test('workers end with the primary, each with its number', async () => {
    const { primary, workers, stderr } = await begin()
    const closed = once(primary, 'close')
    primary.kill('SIGKILL')
    await closed
    await untilGone(workers)
    const numbers = Array.from(stderr().matchAll(/worker (\d+) ends, because the primary process is gone/g), ([, number]) => number)
    assert.deepEqual(
      numbers.filter((number) => number !== '1' && number !== '2'),
      [],
    )
  })

  test('a worker creates nothing in place of removed folders and files, and starts when they are back', async () => {
    const server = await ServerProcess.start({ flags: ['--workers=2'] })
    const moves = [
      { moved: '.', missing: 'pki/admin.token' },
      { moved: 'store', missing: 'store/data.mdb' },
      ...['pki/ca.key', 'pki/serving.crt', 'pki/sa.key'].map((path) => ({ moved: path, missing: path })),
    ]
    for (const { moved, missing } of moves) {
      const path = join(server.dataDir, moved)
      const before = server.stderr.length
      const untilLogged = (text: string) =>
        until(
          async () => server.stderr.slice(before),
          (log) => log.includes(text),
        )
      renameSync(path, `${path}-moved`)
      process.kill(server.workers[0] as number, 'SIGKILL')
      await untilLogged(`${join(server.dataDir, missing)} is missing`)
      assert.ok(!existsSync(path))
      renameSync(`${path}-moved`, path)
      await untilLogged('the worker process serves again')
    }
    await server.stop()
  })

  test('--workers=auto: a worker is replaced also when the server has one core left', { skip: availableParallelism() < 2 }, async () => {
    const server = await ServerProcess.start({ flags: ['--workers=auto'] })
    const [victim, ...others] = server.workers
    execFileSync('taskset', ['-a', '-p', '-c', '0', String(server.pid)])
    process.kill(victim as number, 'SIGKILL')
    await until(
      async () => server.stderr,
      (text) => text.includes('the worker process serves again'),
    )
    assert.equal(server.workers.length, others.length + 1)
    await server.stop()
  })
})
