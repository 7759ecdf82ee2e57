// Unknown options are errors in every function of the client: a misspelt dryRun must not delete.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, type ClientSettings } from './client.js'
import { connect, connectTo, findConnection } from './node/connect.js'
import { HttpTransport } from './node/http-transport.js'
import { inClusterConnection } from './node/in-cluster.js'
import { loadConfig } from './node/load-kubeconfig.js'
import { FetchTransport } from './transport/fetch-transport.js'
import type { Transport } from './transport/transport.js'
import { makeTypedClient } from './typed/typed-client.js'
import { Informer } from './watch/informer.js'

const transport: Transport = {
  send: () => Promise.reject(new Error('something was sent')),
  openSocket: () => Promise.reject(new Error('something was sent')),
  close: () => undefined,
}
const client = makeTypedClient({ transport, identity: 'cluster' })
const configMaps = client.core.v1.configMaps('shop')
const pods = client.pods('shop')
const text =
  'clusters: [{name: c, cluster: {server: https://127.0.0.1:1}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n'
const connection = findConnection({ text })

/** Calls of every function that takes options. */
const calls: { readonly [name: string]: (unknownOption: object) => unknown } = {
  connect: (unknownOption) => connect({ text, ...unknownOption }),
  'connect, before anything is read': (unknownOption) => connect({ file: '/none', ...unknownOption }),
  findConnection: (unknownOption) => findConnection({ text, ...unknownOption }),
  clusterEntry: (unknownOption) => connect({ text, clusterEntry: unknownOption }),
  userEntry: (unknownOption) => connect({ text, userEntry: unknownOption }),
  connectTo: (unknownOption) => connectTo(connection, unknownOption),
  loadConfig: (unknownOption) => loadConfig({ file: '/none', ...unknownOption }),
  inClusterConnection: (unknownOption) => inClusterConnection(unknownOption),
  Client: (unknownOption) => new Client({ transport, ...unknownOption } as ClientSettings),
  makeTypedClient: (unknownOption) => makeTypedClient({ transport, ...unknownOption }),
  as: (unknownOption) => client.as({ user: 'alice', ...unknownOption }),
  HttpTransport: (unknownOption) => new HttpTransport({ server: 'https://127.0.0.1:1', ...unknownOption }),
  tls: (unknownOption) => new HttpTransport({ server: 'https://127.0.0.1:1', tls: unknownOption }),
  FetchTransport: (unknownOption) => new FetchTransport(unknownOption),
  find: (unknownOption) => client.find('cm', unknownOption),
  ofKind: (unknownOption) => client.ofKind('v1', 'ConfigMap', unknownOption),
  collectionOf: (unknownOption) => client.collectionOf({ apiVersion: 'v1', kind: 'ConfigMap' }, unknownOption),
  served: (unknownOption) => client.served.all(unknownOption),
  version: (unknownOption) => client.version(unknownOption),
  json: (unknownOption) => client.json({ path: '/', ...unknownOption }),
  text: (unknownOption) => client.text({ path: '/', ...unknownOption }),
  get: (unknownOption) => configMaps.get('a', unknownOption),
  'find in a collection': (unknownOption) => configMaps.find('a', unknownOption),
  list: (unknownOption) => configMaps.list(unknownOption),
  pages: (unknownOption) => configMaps.pages(unknownOption),
  items: (unknownOption) => configMaps.items(unknownOption),
  watch: (unknownOption) => configMaps.watch(unknownOption),
  openWatch: (unknownOption) => configMaps.openWatch(unknownOption),
  inform: (unknownOption) => configMaps.inform(unknownOption),
  Informer: (unknownOption) => new Informer(configMaps, unknownOption),
  create: (unknownOption) => configMaps.create({}, unknownOption),
  createFor: (unknownOption) => configMaps.createFor('a', {}, unknownOption),
  update: (unknownOption) => configMaps.update({ metadata: { name: 'a' } }, unknownOption),
  modify: (unknownOption) => configMaps.modify('a', (object) => object, unknownOption),
  patch: (unknownOption) => configMaps.patch('a', {}, unknownOption),
  apply: (unknownOption) => configMaps.apply({ metadata: { name: 'a' } }, { fieldManager: 'test', ...unknownOption }),
  delete: (unknownOption) => configMaps.delete('a', unknownOption),
  preconditions: (unknownOption) => configMaps.delete('a', { preconditions: unknownOption }),
  deleteCollection: (unknownOption) => configMaps.deleteCollection(unknownOption),
  table: (unknownOption) => configMaps.table(unknownOption),
  tableOf: (unknownOption) => configMaps.tableOf('a', unknownOption),
  metadata: (unknownOption) => configMaps.metadata.list(unknownOption),
  createToken: (unknownOption) => client.core.v1.serviceAccounts('shop').createToken('a', {}, unknownOption),
  review: (unknownOption) => client.authorization.v1.selfSubjectAccessReviews().create({ spec: {} }, unknownOption),
  log: (unknownOption) => pods.log('a', unknownOption),
  exec: (unknownOption) => pods.exec('a', ['sh'], unknownOption),
  run: (unknownOption) => pods.run('a', ['sh'], unknownOption),
  attach: (unknownOption) => pods.attach('a', unknownOption),
  portForward: (unknownOption) => pods.portForward('a', [80], unknownOption),
  evict: (unknownOption) => pods.evict('a', unknownOption),
  bind: (unknownOption) => pods.bind('a', { name: 'node' }, unknownOption),
}

for (const [name, call] of Object.entries(calls))
  test(`${name} rejects an unknown option`, async () => {
    await assert.rejects(
      async () => call({ noSuchOption: 1 }),
      (thrown) => thrown instanceof TypeError && /unknown option "noSuchOption"; use one of: \w/.test(thrown.message),
    )
  })

test('the error suggests the option with the right spelling', async () => {
  await assert.rejects(
    configMaps.list({ labelselector: 'a=b' } as object),
    /^TypeError: list: unknown option "labelselector"; did you mean "labelSelector"\?$/,
  )
  await assert.rejects(configMaps.delete('a', { dryrun: true } as object), /delete: unknown option "dryrun"; did you mean "dryRun"\?$/)
  assert.throws(() => connect({ text, kubeconfig: 'x' } as object), /connect: unknown option "kubeconfig"; use one of: file, text, /)
  assert.throws(() => connect({ text, clusterEntry: { proxyUrl: 'x' } as object }), /clusterEntry: .*did you mean "proxy-url"\?$/)
  assert.throws(
    () => configMaps.watch({ since: { items: [], metadata: {} }, bookmark: true } as object),
    /watch: unknown option "bookmark"/,
  )
  await assert.rejects(configMaps.inform({ backOff: { first: 1 } as object }).ready, /backOff: unknown option "first"/)
})

test('options that are not an object are rejected', async () => {
  for (const value of ['app=web', null, ['a'], 7])
    await assert.rejects(configMaps.list(value as object), /^TypeError: list: the options must be an object$/)
})
