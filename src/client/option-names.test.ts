// An option that does not exist is refused by its name, wherever the client takes options: left out silently it would be a list of everything, or a deletion instead of a dry run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, type ClientSettings } from './client.js'
import { FetchTransport } from './fetch-transport.js'
import { Informer } from './informer.js'
import { connect, connectTo, findConnection } from './node/connect.js'
import { HttpTransport } from './node/http-transport.js'
import { inClusterConnection } from './node/in-cluster.js'
import { loadConfig } from './node/load-config.js'
import type { Transport } from './transport.js'
import { makeTypedClient } from './typed/typed-client.js'

const transport: Transport = {
  send: () => Promise.reject(new Error('something was sent')),
  openSocket: () => Promise.reject(new Error('something was sent')),
  close: () => undefined,
}
const client = makeTypedClient({ transport, identity: 'cluster' })
const maps = client.core.v1.configMaps('shop')
const pods = client.pods('shop')
const text =
  'clusters: [{name: c, cluster: {server: https://127.0.0.1:1}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n'
const connection = findConnection({ text })

/** Every function that takes options, with these. */
const calls: { readonly [name: string]: (wrong: object) => unknown } = {
  connect: (wrong) => connect({ text, ...wrong }),
  'connect, before anything is read': (wrong) => connect({ file: '/none', ...wrong }),
  findConnection: (wrong) => findConnection({ text, ...wrong }),
  clusterEntry: (wrong) => connect({ text, clusterEntry: wrong }),
  userEntry: (wrong) => connect({ text, userEntry: wrong }),
  connectTo: (wrong) => connectTo(connection, wrong),
  loadConfig: (wrong) => loadConfig({ file: '/none', ...wrong }),
  inClusterConnection: (wrong) => inClusterConnection(wrong),
  Client: (wrong) => new Client({ transport, ...wrong } as ClientSettings),
  makeTypedClient: (wrong) => makeTypedClient({ transport, ...wrong }),
  as: (wrong) => client.as({ user: 'alice', ...wrong }),
  HttpTransport: (wrong) => new HttpTransport({ server: 'https://127.0.0.1:1', ...wrong }),
  tls: (wrong) => new HttpTransport({ server: 'https://127.0.0.1:1', tls: wrong }),
  FetchTransport: (wrong) => new FetchTransport(wrong),
  find: (wrong) => client.find('cm', wrong),
  ofKind: (wrong) => client.ofKind('v1', 'ConfigMap', wrong),
  collectionOf: (wrong) => client.collectionOf({ apiVersion: 'v1', kind: 'ConfigMap' }, wrong),
  served: (wrong) => client.served.all(wrong),
  version: (wrong) => client.version(wrong),
  json: (wrong) => client.json({ path: '/', ...wrong }),
  text: (wrong) => client.text({ path: '/', ...wrong }),
  get: (wrong) => maps.get('a', wrong),
  'get of an optional one': (wrong) => maps.find('a', wrong),
  list: (wrong) => maps.list(wrong),
  pages: (wrong) => maps.pages(wrong),
  items: (wrong) => maps.items(wrong),
  watch: (wrong) => maps.watch(wrong),
  openWatch: (wrong) => maps.openWatch(wrong),
  inform: (wrong) => maps.inform(wrong),
  Informer: (wrong) => new Informer(maps, wrong),
  create: (wrong) => maps.create({}, wrong),
  createFor: (wrong) => maps.createFor('a', {}, wrong),
  update: (wrong) => maps.update({ metadata: { name: 'a' } }, wrong),
  modify: (wrong) => maps.modify('a', (object) => object, wrong),
  patch: (wrong) => maps.patch('a', {}, wrong),
  apply: (wrong) => maps.apply({ metadata: { name: 'a' } }, { fieldManager: 'test', ...wrong }),
  delete: (wrong) => maps.delete('a', wrong),
  preconditions: (wrong) => maps.delete('a', { preconditions: wrong }),
  deleteCollection: (wrong) => maps.deleteCollection(wrong),
  table: (wrong) => maps.table(wrong),
  tableOf: (wrong) => maps.tableOf('a', wrong),
  metadata: (wrong) => maps.metadata.list(wrong),
  createToken: (wrong) => client.core.v1.serviceAccounts('shop').createToken('a', {}, wrong),
  review: (wrong) => client.authorization.v1.selfSubjectAccessReviews().create({ spec: {} }, wrong),
  log: (wrong) => pods.log('a', wrong),
  exec: (wrong) => pods.exec('a', ['sh'], wrong),
  run: (wrong) => pods.run('a', ['sh'], wrong),
  attach: (wrong) => pods.attach('a', wrong),
  portForward: (wrong) => pods.portForward('a', [80], wrong),
  evict: (wrong) => pods.evict('a', wrong),
  bind: (wrong) => pods.bind('a', { name: 'node' }, wrong),
}

for (const [name, call] of Object.entries(calls))
  test(`${name} refuses an option that there is not`, async () => {
    await assert.rejects(
      async () => call({ noSuchOption: 1 }),
      (thrown) => thrown instanceof TypeError && /there is no option "noSuchOption"; those that there are: \w/.test(thrown.message),
    )
  })

test('the one that is meant is named', async () => {
  await assert.rejects(
    maps.list({ labelselector: 'a=b' } as object),
    /^TypeError: list: there is no option "labelselector"; is "labelSelector" meant\?$/,
  )
  await assert.rejects(maps.delete('a', { dryrun: true } as object), /delete: there is no option "dryrun"; is "dryRun" meant\?$/)
  assert.throws(
    () => connect({ text, kubeconfig: 'x' } as object),
    /connect: there is no option "kubeconfig"; those that there are: file, text, /,
  )
  assert.throws(() => connect({ text, clusterEntry: { proxyUrl: 'x' } as object }), /clusterEntry: .*is "proxy-url" meant\?$/)
  assert.throws(() => maps.watch({ since: { items: [], metadata: {} }, bookmark: true } as object), /watch: there is no option "bookmark"/)
  await assert.rejects(maps.inform({ backOff: { first: 1 } as object }).ready, /backOff: there is no option "first"/)
})

test('what is no object of options is refused, too', async () => {
  for (const wrong of ['app=web', null, ['a'], 7])
    await assert.rejects(maps.list(wrong as object), /^TypeError: list: the options must be an object$/)
})

test('every option that there is can be given', async () => {
  const all = {
    labelSelector: 'a',
    fieldSelector: 'b',
    limit: 1,
    continue: 'c',
    resourceVersion: '1',
    resourceVersionMatch: 'Exact',
    timeoutMs: 1000,
  } as const
  await assert.rejects(maps.list(all), /something was sent/)
  const shared = {
    identity: 'cluster',
    onWarning: () => undefined,
    retries: 1,
    userAgent: 'me',
    timeoutMs: 1,
    impersonate: { user: 'alice' },
  } as const
  connect({
    ...shared,
    text,
    context: 'x',
    cluster: 'c',
    user: '',
    namespace: 'shop',
    environment: {},
    clusterEntry: {},
    userEntry: {},
  }).close()
})
