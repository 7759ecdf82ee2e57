// kubectl with simulated nodes: logs, exec, attach, port-forward, proxy and top.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ServerProcess } from '../kit/server-process.js'
import { Kubectl } from './kubectl.js'
import { obtainKubectl } from './obtain-kubectl.js'

const client = await obtainKubectl()

const rules = {
  log: ['first', 'second'],
  exec: [
    { command: 'cat /etc/hosts', stdout: '127.0.0.1 localhost\n' },
    { command: 'sh -c *', stdout: 'out\n', stderr: 'err\n', exitCode: 3 },
    { command: 'cat', echo: true },
  ],
  ports: [{ port: 8080, http: [{ path: '/healthz', body: 'ok' }] }],
  usage: { cpu: '250m', memory: '64Mi' },
}
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'one', annotations: { 'simulation.kubernetes.io/behaviour': JSON.stringify(rules) } },
  spec: { containers: [{ name: 'app', image: 'app:1' }] },
}

describe('kubectl and simulated nodes', { skip: client.skip }, () => {
  let server: ServerProcess
  let kubectl: Kubectl
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kubectl-simulated-'))
    server = await ServerProcess.start({ flags: ['--identity=kubernetes', '--simulate-nodes=1'] })
    const clientConfiguration = join(server.dataDir, 'admin.conf')
    kubectl = new Kubectl({ command: client.path, clientConfiguration, home: folder, minor: 0, namespace: 'default' })
    await kubectl.send('apply -f -', pod)
    await kubectl.ok('wait --for=condition=Ready pod/one --timeout=60s')
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  for (const webSockets of ['false', 'true'])
    test(`exec and attach: output, input and exit codes (KUBECTL_REMOTE_COMMAND_WEBSOCKETS=${webSockets})`, async () => {
      const chosen = kubectl.with({ KUBECTL_REMOTE_COMMAND_WEBSOCKETS: webSockets })
      assert.equal(await chosen.ok('exec one -- cat /etc/hosts'), '127.0.0.1 localhost\n')
      const failed = await chosen.run('exec one -- sh -c', ['exit 3'])
      assert.deepEqual([failed.code, failed.stdout], [3, 'out\n'], failed.stderr)
      assert.match(failed.stderr, /^err\n/)
      const unknown = await chosen.run('exec one -- ls /')
      assert.equal(unknown.code, 127)
      assert.match(unknown.stderr, /container "app" is simulated and runs no commands: add \{"command": \["ls","\/"\]/)
      const large = 'x'.repeat(500_000)
      const echoed = await chosen.run('exec -i one -- cat', [], large)
      assert.deepEqual([echoed.code, echoed.stdout.length], [0, large.length], echoed.stderr)
      const attached = chosen.follow('attach one')
      try {
        assert.match(await attached.until(/second\n/), /first\nsecond\n/)
      } finally {
        attached.close()
      }
    })

  test('logs and proxy', async () => {
    assert.equal(await kubectl.ok('logs one'), 'first\nsecond\n')
    assert.equal(await kubectl.ok('get --raw /api/v1/namespaces/default/pods/one:8080/proxy/healthz'), 'ok')
    await kubectl.fails('get --raw /api/v1/namespaces/default/pods/one:81/proxy/', /connection refused/)
  })

  test('port-forward', async () => {
    const forwarding = kubectl.follow('port-forward pod/one :8080')
    try {
      const localPort = /127\.0\.0\.1:(\d+)/.exec(await forwarding.until(/Forwarding from 127\.0\.0\.1:\d+/))?.[1]
      for (const [path, code] of [
        ['/healthz', 200],
        ['/other', 404],
      ] as const)
        assert.equal((await fetch(`http://127.0.0.1:${localPort}${path}`)).status, code)
    } finally {
      forwarding.close()
    }
    const closed = kubectl.follow('port-forward pod/one :81')
    try {
      const localPort = /127\.0\.0\.1:(\d+)/.exec(await closed.until(/Forwarding from 127\.0\.0\.1:\d+/))?.[1]
      await assert.rejects(fetch(`http://127.0.0.1:${localPort}/`))
    } finally {
      closed.close()
    }
  })

  test('top nodes and pods', async () => {
    assert.match(await kubectl.ok('top nodes'), /node-1 +250m +3% +64Mi +0%/)
    assert.match(await kubectl.ok('top pods'), /one +250m +64Mi/)
    assert.match(await kubectl.ok('top pods --containers'), /one +app +250m +64Mi/)
    assert.match(await kubectl.ok('get pods.metrics.k8s.io'), /NAME +CPU +MEMORY +WINDOW\none +250m +64Mi +15s/)
    assert.match(await kubectl.ok('get apiservices v1beta1.metrics.k8s.io'), /Local +True/)
  })
})
