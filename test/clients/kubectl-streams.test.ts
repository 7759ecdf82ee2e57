// kubectl (Debian) with kubelets: logs, exec, attach, cp, port-forward, proxy.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type KubeletCluster, needsAddress, ownAddress, setPodAddress, startKubeletCluster } from '../kit/kubelet/kubelet-cluster.js'
import { Kubectl } from './kubectl.js'
import { obtainKubectl } from './obtain-kubectl.js'

const client = await obtainKubectl()

describe('kubectl and kubelets', { skip: client.skip, concurrency: 2 }, () => {
  let cluster: KubeletCluster
  let kubectl: Kubectl
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kubectl-streams-'))
    cluster = await startKubeletCluster({ flags: ['--identity=kubernetes'] })
    kubectl = new Kubectl({
      command: client.path,
      clientConfiguration: join(cluster.server.dataDir, 'admin.conf'),
      home: folder,
      minor: 0,
      namespace: 'default',
    })
    await cluster.makePod('one')
    await cluster.server.client.patch('/api/v1/namespaces/default/pods/one/status', 'application/merge-patch+json', {
      status: {
        phase: 'Running',
        containerStatuses: [{ name: 'main', ready: true, restartCount: 0, image: 'x', imageID: 'x', state: { running: {} } }],
      },
    })
  })
  after(async () => {
    await cluster.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('logs, with options and --follow', async () => {
    cluster.kubelet.log('default/one/main', 'first\nsecond\n')
    assert.equal(await kubectl.ok('logs one'), 'first\nsecond\n')
    assert.equal(await kubectl.ok('logs one --tail=1 --timestamps'), '2026-01-01T00:00:00Z second\n')
    const following = kubectl.follow('logs -f one')
    try {
      await following.until(/second/)
      cluster.kubelet.log('default/one/main', 'third\n')
      await following.until(/third/)
      cluster.kubelet.endLog('default/one/main')
      assert.equal(await following.ended, 0)
    } finally {
      following.close()
    }
    await kubectl.fails('logs one -c other', /container other is not valid for pod one/)
  })

  test('exec: output, errors, input, exit codes', async () => {
    assert.equal(await kubectl.ok('exec one -- echo', 'hello world'), 'hello world\n')
    const failed = await kubectl.run('exec one -- sh -c', ['echo out; echo err >&2; exit 3'])
    assert.deepEqual([failed.code, failed.stdout], [3, 'out\n'], failed.stderr)
    assert.match(failed.stderr, /^err\n/)
    const large = 'x'.repeat(500_000)
    const echoed = await kubectl.run('exec -i one -- cat', [], large)
    assert.equal(echoed.stdout.length, large.length, echoed.stderr)
    assert.equal(echoed.code, 0)
    await kubectl.fails('exec none -- true', /pods "none" not found/)
  })

  test('attach', async () => {
    const { stdout, code, stderr } = await kubectl.run('attach -i one', [], 'ping\n')
    assert.match(stdout, /attached\necho ping\n/, stderr)
    assert.equal(code, 0)
  })

  test('cp in both directions', async () => {
    const inside = join(folder, 'container')
    mkdirSync(inside)
    const text = 'some text\n'.repeat(20_000)
    writeFileSync(join(folder, 'sent'), text)
    await kubectl.ok(`cp ${join(folder, 'sent')} one:${join(inside, 'got')}`)
    assert.equal(readFileSync(join(inside, 'got'), 'utf8'), text)
    await kubectl.ok(`cp one:${join(inside, 'got')} ${join(folder, 'back')}`)
    assert.equal(readFileSync(join(folder, 'back'), 'utf8'), text)
  })

  test('port-forward', async () => {
    const backend = createServer((request, response) => response.end(`you asked for ${request.url}`))
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
    const { port } = backend.address() as AddressInfo
    const forwarding = kubectl.follow(`port-forward pod/one :${port}`)
    try {
      const output = await forwarding.until(/Forwarding from 127\.0\.0\.1:\d+/)
      const localPort = /127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      for (const path of ['/a', '/b', '/c'])
        assert.equal(await (await fetch(`http://127.0.0.1:${localPort}${path}`)).text(), `you asked for ${path}`)
    } finally {
      forwarding.close()
      backend.close()
      backend.closeAllConnections()
    }
  })

  test('proxy to pods', needsAddress, async () => {
    const backend = createServer((request, response) => response.end(`pod ${request.url}`))
    await new Promise<void>((resolve) => backend.listen(0, ownAddress, resolve))
    await cluster.makePod('web')
    await setPodAddress(cluster.server, 'web', ownAddress ?? '')
    const { port } = backend.address() as AddressInfo
    try {
      assert.equal(await kubectl.ok(`get --raw /api/v1/namespaces/default/pods/web:${port}/proxy/x?y=z`), 'pod /x?y=z')
    } finally {
      backend.close()
      backend.closeAllConnections()
    }
  })
})
