// Garbage collection across an aggregated API server, for which a second server stands in: owners here, dependents there, and the reverse.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { FlagFiles, newAuthority, newClient } from '../security/make-pki.js'
import { type ExtensionServer, register, waitFor } from './extension-server.js'

const group = 'boxes.example'
const boxes = `/apis/${group}/v1/namespaces/default/boxes`
const maps = '/api/v1/namespaces/default/configmaps'

/** Connection to the remote server that can be interrupted. */
class InterruptibleProxy {
  isOpen = true
  port = 0
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((socket) => this.#join(socket))
  readonly #toPort: number

  constructor(toPort: number) {
    this.#toPort = toPort
  }

  async start(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    this.port = (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.isOpen = false
    for (const socket of this.#sockets) socket.destroy()
  }

  end(): void {
    this.close()
    this.#server.close()
  }

  #join(socket: Socket): void {
    const other = connect(this.#toPort, '127.0.0.1')
    for (const [a, b] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.#sockets.add(a)
      a.on('error', () => b.destroy())
      a.once('close', () => {
        this.#sockets.delete(a)
        b.destroy()
      })
    }
    if (this.isOpen) socket.pipe(other).pipe(socket)
    else socket.destroy()
  }
}

describe('objects of an aggregated API server', () => {
  const files = new FlagFiles()
  const proxies = newAuthority('proxies')
  let remote: Embedded
  let running: Embedded
  let client: ApiClient
  let proxy: InterruptibleProxy
  let service: string

  before(async () => {
    const pair = newClient(proxies, 'aggregator')
    const trustFlags = [
      `--requestheader-client-ca-file=${files.write('proxies.crt', proxies.cert)}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
    ]
    // The remote server leaves garbage collection to this one.
    remote = await startEmbedded('memory', [...trustFlags, '--controllers=*,-garbagecollector'])
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const versions = [{ name: 'v1', served: true, storage: true, schema }]
    const spec = { group, scope: 'Namespaced', names: { plural: 'boxes', kind: 'Box' }, versions }
    const definitions = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
    expectStatus(await remote.client.post(definitions, { metadata: { name: `boxes.${group}` }, spec }), 201)
    await untilStatus(() => remote.client.get(boxes), 200)
    proxy = new InterruptibleProxy(Number(new URL(remote.server.url).port))
    await proxy.start()
    running = await startEmbedded('memory', [
      `--proxy-client-cert-file=${files.write('proxy.crt', pair.cert)}`,
      `--proxy-client-key-file=${files.write('proxy.key', pair.key)}`,
    ])
    client = running.client
    const server = { group, port: proxy.port, ca: '' } as ExtensionServer
    service = await register(client, { server, changes: { insecureSkipTLSVerify: true, caBundle: undefined } })
  })
  after(async () => {
    await running.close()
    await remote.close()
    proxy.end()
    files.remove()
  })

  const make = async (path: string, name: string, owner?: object, metadata: object = {}): Promise<object> => {
    const ownerReferences = owner === undefined ? {} : { ownerReferences: [owner] }
    const type = path === boxes ? { apiVersion: `${group}/v1`, kind: 'Box' } : { apiVersion: 'v1', kind: 'ConfigMap' }
    const response = await client.post(path, { ...type, metadata: { name, ...ownerReferences, ...metadata } })
    expectStatus(response, 201)
    const { uid } = response.json.metadata as { readonly uid: string }
    return { ...type, name, uid }
  }
  const exists = async (path: string, name: string): Promise<boolean> => (await client.get(`${path}/${name}`)).status === 200
  const untilDeleted = (path: string, name: string) => untilStatus(() => client.get(`${path}/${name}`), 404)
  const remove = async (path: string, name: string, propagationPolicy = 'Background'): Promise<void> => {
    expectStatus(await client.delete(`${path}/${name}?propagationPolicy=${propagationPolicy}`), 200)
  }

  test('are deleted with an owner on this server, level by level', async () => {
    const owner = await make(maps, 'a')
    const box = await make(boxes, 'a-box', owner)
    await make(maps, 'a-map', box)
    await make(boxes, 'other')
    await remove(maps, 'a')
    await untilDeleted(boxes, 'a-box')
    await untilDeleted(maps, 'a-map')
    assert.ok(await exists(boxes, 'other'))
  })

  test('with a missing owner are deleted; with an existing owner they stay', async () => {
    const owner = await make(boxes, 'owner')
    await make(maps, 'kept', owner)
    await make(maps, 'lost', { apiVersion: `${group}/v1`, kind: 'Box', name: 'missing', uid: 'never' })
    await make(boxes, 'lost-box', { apiVersion: 'v1', kind: 'ConfigMap', name: 'missing', uid: 'never' })
    await untilDeleted(maps, 'lost')
    await untilDeleted(boxes, 'lost-box')
    assert.ok(await exists(maps, 'kept'))
  })

  test('block foreground deletion of an owner on this server', async () => {
    const owner = await make(maps, 'waits')
    await make(boxes, 'blocks', { ...owner, blockOwnerDeletion: true }, { finalizers: ['example.com/hold'] })
    await remove(maps, 'waits', 'Foreground')
    await until(
      () => client.get(`${boxes}/blocks`),
      ({ json }) => (json.metadata as { deletionTimestamp?: string }).deletionTimestamp !== undefined,
    )
    assert.ok(await exists(maps, 'waits'))
    expectStatus(await client.patch(`${boxes}/blocks`, 'application/merge-patch+json', { metadata: { finalizers: null } }), 200)
    await untilDeleted(maps, 'waits')
  })

  test('are deleted in the foreground after their dependents here, or orphan them', async () => {
    const foreground = await make(boxes, 'foreground')
    await make(maps, 'first', { ...foreground, blockOwnerDeletion: true })
    const orphaning = await make(boxes, 'orphaning')
    await make(maps, 'stays', orphaning)
    await make(boxes, 'stays-too', orphaning)
    await remove(boxes, 'foreground', 'Foreground')
    await remove(boxes, 'orphaning', 'Orphan')
    await untilDeleted(boxes, 'foreground')
    await untilDeleted(boxes, 'orphaning')
    assert.ok(!(await exists(maps, 'first')))
    for (const path of [`${maps}/stays`, `${boxes}/stays-too`]) {
      const { status, json } = await client.get(path)
      assert.deepEqual([status, (json.metadata as { ownerReferences?: unknown }).ownerReferences], [200, undefined])
    }
  })

  /** Changing the APIService triggers a probe at once. */
  const probeAgain = async (versionPriority: number): Promise<void> => {
    expectStatus(await client.patch(service, 'application/merge-patch+json', { spec: { versionPriority } }), 200)
  }
  /** More than the garbage collector requests concurrently. */
  const boxCount = 20

  test('an unresponsive server blocks nothing else, and possible dependents of its objects stay', async () => {
    const owner = await make(maps, 'down')
    for (let i = 0; i < boxCount; i++) await make(boxes, `down-box-${i}`, owner)
    await make(maps, 'down-map', owner)
    const box = await make(boxes, 'unknown')
    proxy.close()
    await probeAgain(1)
    await waitFor(client, service, 'FailedDiscoveryCheck')
    await make(maps, 'in-doubt', { ...box, name: 'missing', uid: 'never' })
    await remove(maps, 'down')
    await untilDeleted(maps, 'down-map')
    const last = await make(maps, 'last')
    await make(maps, 'last-map', last)
    await remove(maps, 'last')
    await untilDeleted(maps, 'last-map')
    assert.ok(await exists(maps, 'in-doubt'))
    proxy.isOpen = true
    await probeAgain(2)
    for (let i = 0; i < boxCount; i++) await untilStatus(() => remote.client.get(`${boxes}/down-box-${i}`), 404)
    await untilDeleted(maps, 'in-doubt')
    assert.ok((await remote.client.get(`${boxes}/unknown`)).status === 200)
  })
})
