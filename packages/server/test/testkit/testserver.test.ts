// The command testserver: its line, and its end with a signal or its parent.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { runInProcess } from '../../../../test/kit/run-command.js'
import { newFolder } from '../../../../test/kit/server-process.js'
import { controlClient } from './control-client.js'
import { startTestserver } from './start-testserver.js'

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('prints one line, serves, and ends at SIGTERM without leaving files', async () => {
  const { child, line, stdout, exited } = await startTestserver(['--identity=kubernetes'])
  assert.deepEqual(Object.keys(line), ['url', 'ca', 'token', 'kubeconfig', 'testkit', 'pid'])
  assert.match(line.url, /^https:\/\/127\.0\.0\.1:\d+$/)
  assert.equal(line.testkit.url, `${line.url}/testkit`)
  assert.equal(line.pid, child.pid)
  const client = new ApiClient(line)
  expectStatus(await client.get('/api/v1/namespaces/kube-system'), 200)
  client.close()
  const control = controlClient({ ...line, caPem: line.ca })
  expectStatus(await control.get('/testkit/'), 200)
  control.close()
  assert.ok(readFileSync(line.kubeconfig, 'utf8').includes(line.token))
  assert.equal(statSync(line.kubeconfig).mode & 0o777, 0o600)
  child.kill('SIGTERM')
  assert.equal(await exited, 0)
  assert.ok(!existsSync(dirname(line.kubeconfig)))
  assert.equal(stdout(), `${JSON.stringify(line)}\n`)
})

test('--from begins with a captured cluster', async (t) => {
  const folder = newFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'captured.yaml')
  writeFileSync(path, 'apiVersion: v1\nkind: Namespace\nmetadata: { name: shop, uid: 11111111-2222-4333-8444-555555555555 }\n')
  for (const flags of [['--from', path, '--v=0'], [`--from=${path}`]]) {
    const { child, line, exited } = await startTestserver(flags)
    const client = new ApiClient(line)
    const { json } = expectStatus(await client.get('/api/v1/namespaces/shop'), 200)
    assert.equal(json.metadata.uid, '11111111-2222-4333-8444-555555555555')
    client.close()
    child.kill('SIGINT')
    assert.equal(await exited, 0)
  }
})

test('ends with its parent, also if the parent is killed', async () => {
  const { child, line } = await startTestserver([], '"$@" & wait')
  assert.notEqual(line.pid, child.pid)
  assert.ok(isRunning(line.pid))
  child.kill('SIGKILL')
  await until(
    async () => isRunning(line.pid),
    (running) => !running,
  )
  assert.ok(!existsSync(dirname(line.kubeconfig)))
})

for (const { args, code, error } of [
  { args: ['--nonsense'], code: 2, error: /^cluster-apiserver testserver: .*nonsense/ },
  { args: ['--data-dir=/tmp/x'], code: 2, error: /--data-dir: a test server stores its objects in memory; remove the flag\n$/ },
  { args: ['--etcd-servers=http://127.0.0.1:1'], code: 2, error: /--etcd-servers: a test server stores its objects in memory/ },
  { args: ['--bind-address=0.0.0.0'], code: 2, error: /--testkit: other machines can connect/ },
  { args: ['--from'], code: 2, error: /--from: needs the path of a captured cluster\n$/ },
  { args: ['--from=/missing/capture'], code: 1, error: /^cluster-apiserver testserver: .*\/missing\/capture/ },
  { args: ['extra'], code: 2, error: /extra/ },
]) {
  test(`does not start: ${args.join(' ')}`, async () => {
    const { code: found, stdout, stderr } = await runInProcess(['testserver', ...args])
    assert.equal(found, code, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, error)
  })
}

test('does not start on a port in use', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { code, stdout, stderr } = await runInProcess(['testserver', `--secure-port=${port}`])
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^cluster-apiserver testserver: port \d+ of 127\.0\.0\.1 is in use by another process/)
})

test('--help', async () => {
  const { code, stdout } = await runInProcess(['testserver', '--help'])
  assert.equal(code, 0)
  assert.match(stdout, /^usage: cluster-apiserver testserver /)
})
