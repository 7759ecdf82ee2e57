// Owners here and what they own elsewhere, and the other way round: another server of ours stands for one that extends the API.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { ApiClient } from '../kit/api-client.js'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { expectStatus, until } from '../kit/fixtures.js'
import { FlagFiles, newAuthority, newClient } from '../security/make-pki.js'
import { type ExtensionServer, register, waitFor } from './extension-server.js'

const group = 'boxes.example'
const boxes = `/apis/${group}/v1/namespaces/default/boxes`
const maps = '/api/v1/namespaces/default/configmaps'

/** The way to a server, which can be interrupted. */
class Road {
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

describe('objects that another server keeps', () => {
  const files = new FlagFiles()
  const proxies = newAuthority('proxies')
  let behind: Embedded
  let running: Embedded
  let client: ApiClient
  let road: Road
  let service: string

  before(async () => {
    const pair = newClient(proxies, 'aggregator')
    const trust = [
      `--requestheader-client-ca-file=${files.write('proxies.crt', proxies.cert)}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
    ]
    // It leaves it to the other one to see to dependents.
    behind = await startEmbedded('memory', [...trust, '--controllers=*,-garbagecollector'])
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const versions = [{ name: 'v1', served: true, storage: true, schema }]
    const spec = { group, scope: 'Namespaced', names: { plural: 'boxes', kind: 'Box' }, versions }
    const definitions = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
    expectStatus(await behind.client.post(definitions, { metadata: { name: `boxes.${group}` }, spec }), 201)
    await until(
      () => behind.client.get(boxes),
      ({ status }) => status === 200,
    )
    road = new Road(Number(new URL(behind.server.url).port))
    await road.start()
    running = await startEmbedded('memory', [
      `--proxy-client-cert-file=${files.write('proxy.crt', pair.cert)}`,
      `--proxy-client-key-file=${files.write('proxy.key', pair.key)}`,
    ])
    client = running.client
    const server = { group, port: road.port, ca: '' } as ExtensionServer
    service = await register(client, { server, changes: { insecureSkipTLSVerify: true, caBundle: undefined } })
  })
  after(async () => {
    await running.close()
    await behind.close()
    road.end()
    files.remove()
  })

  const make = async (path: string, name: string, owner?: object, metadata: object = {}): Promise<object> => {
    const ownerReferences = owner === undefined ? {} : { ownerReferences: [owner] }
    const type = path === boxes ? { apiVersion: `${group}/v1`, kind: 'Box' } : { apiVersion: 'v1', kind: 'ConfigMap' }
    const answer = await client.post(path, { ...type, metadata: { name, ...ownerReferences, ...metadata } })
    expectStatus(answer, 201)
    const { uid } = answer.json.metadata as { readonly uid: string }
    return { ...type, name, uid }
  }
  const isThere = async (path: string, name: string): Promise<boolean> => (await client.get(`${path}/${name}`)).status === 200
  const isGone = (path: string, name: string) =>
    until(
      () => client.get(`${path}/${name}`),
      ({ status }) => status === 404,
    )
  const remove = async (path: string, name: string, propagationPolicy = 'Background'): Promise<void> => {
    expectStatus(await client.delete(`${path}/${name}?propagationPolicy=${propagationPolicy}`), 200)
  }

  test('go with an owner of this server, and level by level', async () => {
    const owner = await make(maps, 'a')
    const box = await make(boxes, 'a-box', owner)
    await make(maps, 'a-map', box)
    await make(boxes, 'other')
    await remove(maps, 'a')
    await isGone(boxes, 'a-box')
    await isGone(maps, 'a-map')
    assert.ok(await isThere(boxes, 'other'))
  })

  test('that have an owner which never was are deleted; those whose owner is there stay', async () => {
    const owner = await make(boxes, 'owner')
    await make(maps, 'kept', owner)
    await make(maps, 'lost', { apiVersion: `${group}/v1`, kind: 'Box', name: 'nobody', uid: 'never' })
    await make(boxes, 'lost-box', { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'never' })
    await isGone(maps, 'lost')
    await isGone(boxes, 'lost-box')
    assert.ok(await isThere(maps, 'kept'))
  })

  test('keep an owner of this server that is deleted in the foreground', async () => {
    const owner = await make(maps, 'waits')
    await make(boxes, 'blocks', { ...owner, blockOwnerDeletion: true }, { finalizers: ['example.com/hold'] })
    await remove(maps, 'waits', 'Foreground')
    await until(
      () => client.get(`${boxes}/blocks`),
      ({ json }) => (json.metadata as { deletionTimestamp?: string }).deletionTimestamp !== undefined,
    )
    assert.ok(await isThere(maps, 'waits'))
    expectStatus(await client.patch(`${boxes}/blocks`, 'application/merge-patch+json', { metadata: { finalizers: null } }), 200)
    await isGone(maps, 'waits')
  })

  test('wait for what they own here, or let it go', async () => {
    const foreground = await make(boxes, 'foreground')
    await make(maps, 'first', { ...foreground, blockOwnerDeletion: true })
    const orphaning = await make(boxes, 'orphaning')
    await make(maps, 'stays', orphaning)
    await make(boxes, 'stays-too', orphaning)
    await remove(boxes, 'foreground', 'Foreground')
    await remove(boxes, 'orphaning', 'Orphan')
    await isGone(boxes, 'foreground')
    await isGone(boxes, 'orphaning')
    assert.ok(!(await isThere(maps, 'first')))
    for (const path of [`${maps}/stays`, `${boxes}/stays-too`]) {
      const { status, json } = await client.get(path)
      assert.deepEqual([status, (json.metadata as { ownerReferences?: unknown }).ownerReferences], [200, undefined])
    }
  })

  /** Otherwise it is asked now and then. */
  const askAgain = async (versionPriority: number): Promise<void> => {
    expectStatus(await client.patch(service, 'application/merge-patch+json', { spec: { versionPriority } }), 200)
  }
  /** More than are asked for at a time. */
  const many = 20

  test('a server that does not answer holds up nothing else, and what it may know of stays', async () => {
    const owner = await make(maps, 'down')
    for (let i = 0; i < many; i++) await make(boxes, `down-box-${i}`, owner)
    await make(maps, 'down-map', owner)
    const box = await make(boxes, 'unknown')
    road.close()
    await askAgain(1)
    await waitFor(client, service, 'FailedDiscoveryCheck')
    await make(maps, 'in-doubt', { ...box, name: 'nobody', uid: 'never' })
    await remove(maps, 'down')
    await isGone(maps, 'down-map')
    const last = await make(maps, 'last')
    await make(maps, 'last-map', last)
    await remove(maps, 'last')
    await isGone(maps, 'last-map')
    assert.ok(await isThere(maps, 'in-doubt'))
    road.isOpen = true
    await askAgain(2)
    for (let i = 0; i < many; i++)
      await until(
        () => behind.client.get(`${boxes}/down-box-${i}`),
        ({ status }) => status === 404,
      )
    await isGone(maps, 'in-doubt')
    assert.ok((await behind.client.get(`${boxes}/unknown`)).status === 200)
  })
})
