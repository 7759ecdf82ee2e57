// A server with two worker processes: one store, one port, one audit log, one /metrics; and the end of each process.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startServer } from 'cluster-apiserver'
import { ApiClient } from '../../../../test/kit/api-client.js'
import { configMapOf, configMaps, expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { readMetrics } from '../../../../test/kit/metrics-text.js'
import { Http2Client } from '../../../../test/kit/network/http2-client.js'
import { repoRoot } from '../../../../test/kit/paths.js'
import { newFolder, runCommand, ServerProcess } from '../../../../test/kit/server-process.js'

const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const limitOf = (pid: number): string => /^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1] ?? ''
const setLimit = (pid: number, limit: string | number) => execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${limit}:`])

describe('a server with two worker processes', () => {
  let server: ServerProcess
  let client: ApiClient
  let folder: string

  before(async () => {
    folder = newFolder()
    const policy = join(folder, 'policy.yaml')
    writeFileSync(policy, 'apiVersion: audit.cluster.io/v1\nkind: Policy\nrules:\n- level: Metadata\n  omitStages: [RequestReceived]\n')
    const flags = ['--workers=2', `--audit-policy-file=${policy}`, `--audit-log-path=${join(folder, 'audit.log')}`, '--max-watches=3']
    server = await ServerProcess.start({ flags })
    client = new ApiClient(server.access, { keepAlive: false })
  })
  after(async () => {
    client.close()
    await server.stop()
  })

  test('the first line of the output names the workers, which all are ready', async () => {
    assert.match(server.stdout, /, 2 worker processes\)/)
    assert.equal(server.workers.length, 2)
    for (let i = 0; i < 4; i++) expectStatus(await client.get('/readyz'), 200)
  })

  test('a write through one worker is read at once through the other, by its resourceVersion, too', async () => {
    for (let i = 0; i < 20; i++) {
      const created = expectStatus(await client.post(configMaps('default'), configMapOf(`shared-${i}`)), 201).json
      const version = created.metadata.resourceVersion
      assert.equal(expectStatus(await client.get(configMaps('default', `shared-${i}`)), 200).json.metadata.resourceVersion, version)
      for (const match of ['', '&resourceVersionMatch=Exact', '&resourceVersionMatch=NotOlderThan']) {
        const list = expectStatus(await client.get(`${configMaps('default')}?resourceVersion=${version}${match}`), 200).json
        assert.ok(list.items.some(({ metadata }) => metadata.name === `shared-${i}`))
      }
    }
  })

  test('watches through both workers see every change once, in order', async () => {
    const list = expectStatus(await client.get(configMaps('default')), 200).json
    const path = `${configMaps('default')}?watch=1&resourceVersion=${list.metadata.resourceVersion}`
    const watches = [await client.watch(path), await client.watch(path)]
    await Promise.all(Array.from({ length: 30 }, (_, i) => client.post(configMaps('default'), configMapOf(`watched-${i}`))))
    for (const watch of watches) {
      const events = await watch.atLeast(30)
      assert.equal(new Set(events.map(({ object }) => object.metadata.name)).size, 30)
      const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
      assert.deepEqual(
        versions,
        versions.toSorted((a, b) => a - b),
      )
      watch.close()
    }
  })

  test('a quota is exact across workers', async () => {
    expectStatus(await client.post('/api/v1/namespaces', { metadata: { name: 'bounded' } }), 201)
    const quota = { metadata: { name: 'five' }, spec: { hard: { 'count/configmaps': '5' } } }
    expectStatus(await client.post('/api/v1/namespaces/bounded/resourcequotas', quota), 201)
    const used = async () => (await client.get('/api/v1/namespaces/bounded/resourcequotas/five')).json['status']
    await until(used, (status) => JSON.stringify(status).includes('"used"'))
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => client.post(configMaps('bounded'), configMapOf(`c-${i}`))))
    const count = (await client.get(configMaps('bounded'))).json.items.length
    assert.equal(count, 5)
    assert.ok(outcomes.filter(({ status }) => status === 201).length <= 5)
    assert.ok(outcomes.some(({ status }) => status === 403))
  })

  test('/metrics of any worker has the sum of all processes', async () => {
    const path = configMaps('default', 'counted')
    for (let i = 0; i < 10; i++) expectStatus(await client.get(path), 404)
    for (let i = 0; i < 2; i++) {
      // A busy process is left out when it does not respond in time.
      const metrics = await until(
        async () => readMetrics(expectStatus(await client.get('/metrics'), 200).text),
        ({ samples }) => samples.filter(({ name }) => name === 'process_resident_memory_bytes').length === 3,
      )
      assert.equal(metrics.sum('apiserver_request_total', { code: '404', resource: 'configmaps', verb: 'GET' }), 10)
      assert.equal(metrics.sum('apiserver_worker_processes'), 2)
      assert.equal(metrics.sum('leader_election_master_status'), 1)
      // Shares of 600 seats, each rounded up.
      const seats = metrics.sum('apiserver_flowcontrol_nominal_limit_seats')
      assert.ok(seats >= 600 && seats < 620, `${seats} seats`)
      const processes = metrics.samples
        .filter(({ name }) => name === 'process_resident_memory_bytes')
        .map(({ labels }) => labels['process'])
      assert.deepEqual(processes.toSorted(), ['primary', 'worker-1', 'worker-2'])
    }
  })

  test('one audit log has whole lines of all workers, each event once', async () => {
    const paths = Array.from({ length: 40 }, (_, i) => configMaps('default', `audited-${i}`))
    await Promise.all(paths.map((path) => client.get(path)))
    const events = () =>
      readFileSync(join(folder, 'audit.log'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { readonly requestURI: string })
        .filter(({ requestURI }) => requestURI.includes('/audited-'))
    await until(
      async () => events().length,
      (count) => count >= paths.length,
    )
    assert.deepEqual(
      events()
        .map(({ requestURI }) => requestURI)
        .toSorted(),
      paths.toSorted(),
    )
  })

  test('HTTP/2 connections are served', async () => {
    const http2 = new Http2Client(server.access)
    const responses = await Promise.all(Array.from({ length: 10 }, () => http2.send('GET', configMaps('default'))))
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
    http2.close()
  })

  test('a removed RoleBinding denies at once, also on a worker that is behind', async () => {
    const group = 'rbac.authorization.cluster.io'
    const rbac = `/apis/${group}/v1/namespaces/default`
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    expectStatus(await client.post(accounts, { metadata: { name: 'tenant' } }), 201)
    const { token } = expectStatus(await client.post(`${accounts}/tenant/token`, { spec: {} }), 201).json['status'] as { token: string }
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]
    expectStatus(await client.post(`${rbac}/roles`, { metadata: { name: 'reader' }, rules }), 201)
    const subjects = [{ kind: 'ServiceAccount', name: 'tenant', namespace: 'default' }]
    const roleRef = { apiGroup: group, kind: 'Role', name: 'reader' }
    expectStatus(await client.post(`${rbac}/rolebindings`, { metadata: { name: 'readers' }, subjects, roleRef }), 201)
    // Connections go to the workers in turn, so each worker has one of a tenant and one of an administrator.
    const tenants = [0, 1].map(() => new ApiClient({ ...server.access, token }))
    const admins = [0, 1].map(() => new ApiClient(server.access))
    const path = configMaps('default', 'shared-0')
    for (const tenant of tenants) expectStatus(await tenant.get(path), 200)
    for (const admin of admins) expectStatus(await admin.get('/version'), 200)
    const [stopped] = server.workers
    assert.ok(stopped !== undefined)
    process.kill(stopped, 'SIGSTOP')
    await until(async () => /^State:\s+T/m.test(readFileSync(`/proc/${stopped}/status`, 'utf8')), Boolean)
    const probes = admins.map((admin) => admin.get('/version').then(() => admin))
    const admin = await Promise.race(probes)
    // More changes than the worker reads before it serves the next request.
    const data = { text: 'x'.repeat(900_000) }
    for (let i = 0; i < 6; i++) expectStatus(await admin.post(configMaps('default'), configMapOf(`large-${i}`, { data })), 201)
    expectStatus(await admin.delete(`${rbac}/rolebindings/readers`), 200)
    // On a slow machine the primary has ended the stopped worker meanwhile; its clients then get no response.
    const denied = tenants.map((tenant) =>
      tenant.get(path).then(
        ({ status }) => status,
        () => 'no response',
      ),
    )
    assert.ok([403, 'no response'].includes(await Promise.race(denied)))
    if (isRunning(stopped)) process.kill(stopped, 'SIGCONT')
    const outcomes = await Promise.all(denied)
    assert.ok(outcomes.includes(403))
    assert.deepEqual(
      outcomes.filter((outcome) => outcome !== 403 && outcome !== 'no response'),
      [],
    )
    await Promise.allSettled(probes)
    await until(
      async () => server.workers.length,
      (count) => count === 2,
    )
    for (const each of [...tenants, ...admins]) each.close()
  })

  test('a killed worker is replaced: nothing acknowledged is lost', async () => {
    const names: string[] = []
    const [victim] = server.workers
    assert.ok(victim !== undefined)
    for (let i = 0; i < 30; i++) {
      if (i === 10) process.kill(victim, 'SIGKILL')
      const name = `survives-${i}`
      const status = await client.post(configMaps('default'), configMapOf(name)).then(
        (response) => response.status,
        () => 0,
      )
      if (status === 201) names.push(name)
    }
    await until(async () => server.workers.length === 2 && !server.workers.includes(victim), Boolean)
    await until(async () => /the worker process serves again/.test(server.stderr), Boolean)
    assert.match(server.stderr, /"signal":"SIGKILL".*a worker process has ended; starting another/)
    for (let i = 0; i < 2; i++) {
      const stored = new Set((await client.get(configMaps('default'))).json.items.map(({ metadata }) => metadata.name))
      assert.deepEqual(
        names.filter((name) => !stored.has(name)),
        [],
      )
    }
  })

  test('a worker that is stopped is replaced; connections that wait for it go to the other', async () => {
    const [stopped] = server.workers
    assert.ok(stopped !== undefined)
    process.kill(stopped, 'SIGSTOP')
    // Connections go to the workers in turn, so some of these wait for the stopped one.
    const responses = await Promise.all(Array.from({ length: 6 }, () => client.get('/readyz')))
    for (const response of responses) expectStatus(response, 200)
    await until(async () => server.workers.length === 2 && !server.workers.includes(stopped), Boolean)
    assert.match(server.stderr, /"silentMs":\d+.*the worker process does not respond; ending it/)
  })

  test('componentstatuses shows the workers with their process ids', async () => {
    const statuses = async () => {
      const { items } = expectStatus(await client.get('/api/v1/componentstatuses'), 200).json
      return items
        .filter(({ metadata }) => metadata.name.startsWith('worker-'))
        .map(({ metadata, ...item }) => {
          const [{ status, message }] = item['conditions'] as [{ readonly status: string; readonly message: string }]
          return [metadata.name, status, message]
        })
    }
    const shown = await until(statuses, (rows) => rows.every(([, status]) => status === 'True'))
    assert.deepEqual(
      shown.map(([name]) => name),
      ['worker-1', 'worker-2'],
    )
    assert.deepEqual(shown.map(([, , message]) => message).toSorted(), server.workers.map((pid) => `process ${pid}`).toSorted())
  })

  test('connections that find no free file descriptor in a worker are served when there are some again', async () => {
    const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length
    const workers = server.workers.map((pid) => ({ pid, limit: limitOf(pid), maximum: descriptors(pid) + 8 }))
    for (const { pid, maximum } of workers) setLimit(pid, maximum)
    const sockets = Array.from({ length: 100 }, () => connect(server.port, '127.0.0.1'))
    let before = -1
    const hasSettled = async () => {
      const now = descriptors(server.pid)
      const isSame = now === before
      before = now
      return isSame && workers.every(({ pid, maximum }) => descriptors(pid) >= maximum)
    }
    await until(hasSettled, Boolean)
    for (const socket of sockets) socket.destroy()
    for (let i = 0; i < 4; i++) expectStatus(await client.get('/readyz'), 200)
    for (const { pid, limit } of workers) setLimit(pid, limit)
    assert.deepEqual(
      server.workers,
      workers.map(({ pid }) => pid),
    )
  })

  test('a worker that cannot be replaced for lack of file descriptors is reported, and replaced when there are some again', async () => {
    const limit = limitOf(server.pid)
    const [victim] = server.workers
    assert.ok(victim !== undefined)
    setLimit(server.pid, 10)
    process.kill(victim, 'SIGKILL')
    await until(async () => /could not be started: a limit of .*the worker process cannot start/.test(server.stderr), Boolean)
    setLimit(server.pid, limit)
    await until(async () => server.workers.length === 2 && !server.workers.includes(victim), Boolean)
  })

  test('when the primary is killed, its workers end with one line each', async () => {
    const workers = server.workers
    server.signal('SIGKILL')
    await until(
      async () => workers.some(isRunning),
      (some) => !some,
    )
    await until(
      async () => server.stderr.match(/because the primary process is gone/g)?.length ?? 0,
      (count) => count === 2,
    )
    const { dataDir } = server
    server = await ServerProcess.start({ dataDir, flags: ['--workers=2'] })
    client.close()
    client = new ApiClient(server.access, { keepAlive: false })
    expectStatus(await client.get(configMaps('default', 'survives-0')), 200)
  })

  test('a worker that was stopped while its primary ended serves nothing when it continues', async () => {
    const { dataDir, workers } = server
    const [stopped] = workers
    assert.ok(stopped !== undefined)
    // Connections go to the workers in turn, so one of these clients has the stopped worker's.
    const clients = [new ApiClient(server.access), new ApiClient(server.access)]
    const path = configMaps('default', 'old')
    expectStatus(await client.post(configMaps('default'), configMapOf('old')), 201)
    for (const each of clients) expectStatus(await each.get(path), 200)
    process.kill(stopped, 'SIGSTOP')
    await until(async () => /^State:\s+T/m.test(readFileSync(`/proc/${stopped}/status`, 'utf8')), Boolean)
    // One request waits in its connection before the primary ends, so the worker finds it before the end.
    const outcomes: string[] = []
    const requests = clients.map((each) =>
      each.get(`${path}?resourceVersion=0`).then(
        ({ status }) => outcomes.push(String(status)),
        () => outcomes.push('no response'),
      ),
    )
    await until(async () => outcomes.length, Boolean)
    assert.deepEqual(outcomes, ['200'])
    server.signal('SIGKILL')
    const next = await ServerProcess.start({ dataDir, flags: ['--workers=2', '--shutdown-delay-duration=10s'] })
    expectStatus(await next.client.put(path, configMapOf('old', { data: { changed: 'yes' } })), 200)
    process.kill(stopped, 'SIGCONT')
    await Promise.all(requests)
    assert.deepEqual(outcomes, ['200', 'no response'])
    await until(
      async () => isRunning(stopped),
      (running) => !running,
    )
    for (const each of clients) each.close()
    server = next
    client.close()
    client = new ApiClient(server.access, { keepAlive: false })
  })

  test('startServer refuses workers, because it runs in the process of its caller', async () => {
    await assert.rejects(startServer({ workers: 2 }), /"workers" must be 1: only the command cluster-apiserver can start worker processes/)
    const dataDir = newFolder()
    await assert.rejects(startServer({ dataDir, flags: ['--workers=2'] }), /--workers: startServer runs in the process of its caller/)
    rmSync(dataDir, { recursive: true })
  })

  test('a port that is in use is explained, and no process stays', async () => {
    const { code, stderr } = await runCommand(['--workers=2', `--secure-port=${server.port}`, `--data-dir=${join(folder, 'second')}`])
    assert.equal(code, 1)
    assert.match(stderr, /^cluster-apiserver: port \d+ of 127\.0\.0\.1 is in use by another process[^\n]*\n$/)
  })

  test('a worker of another version, which was installed meanwhile, does not start', async () => {
    const installed = newFolder()
    for (const name of ['bin', 'dist/bundle', 'package.json']) cpSync(join(repoRoot, name), join(installed, name), { recursive: true })
    symlinkSync(join(repoRoot, 'node_modules'), join(installed, 'node_modules'))
    const running = await ServerProcess.start({ flags: ['--workers=2'], command: join(installed, 'bin', 'cluster-apiserver') })
    const manifest = join(installed, 'package.json')
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"version": "[^"]+"/, '"version": "99.0.0"'))
    const [victim] = running.workers
    assert.ok(victim !== undefined)
    process.kill(victim, 'SIGKILL')
    await until(
      async () => running.stderr,
      (text) => /version 99\.0\.0 is installed, but version \S+ is running: restart/.test(text),
    )
    await running.stop()
    rmSync(installed, { recursive: true })
  })

  test('SIGTERM ends all processes: readiness fails, requests end, exit code 0', async () => {
    const workers = server.workers
    const watch = await client.watch(`${configMaps('default')}?watch=1`)
    server.signal('SIGTERM')
    await untilStatus(() => client.get('/readyz'), 500)
    await untilStatus(() => client.get('/readyz'), 500)
    expectStatus(await client.post(configMaps('default'), configMapOf('late')), 201)
    const { code } = await server.exited
    await watch.ended
    assert.equal(code, 0)
    assert.deepEqual(workers.filter(isRunning), [])
    assert.doesNotMatch(server.stderr, /primary process is gone|ended; starting/)
  })
})
