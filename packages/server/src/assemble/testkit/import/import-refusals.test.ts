// Captures that are refused: each error names the file and the position.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeSnapshot } from './bolt-writer.fixture.js'
import { captureFolder, etcdWrite, fileWith, folderWith, importFrom, namespace, stored, ware } from './captures.fixture.js'

const list = (...items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
const configMap = (metadata: object, rest: object = {}): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...rest })

const refusals: readonly (readonly [title: string, content: string | Buffer, error: RegExp])[] = [
  [
    'custom resources without their CRD',
    list(ware, { ...ware, kind: 'Shop' }),
    /without their CustomResourceDefinitions: shop\.example\.com\/v1 Ware, shop\.example\.com\/v1 Shop; add the definitions/,
  ],
  [
    'names of the other identity',
    list({ apiVersion: 'rbac.authorization.cluster.io/v1', kind: 'Role', metadata: { name: 'a' } }),
    /item 0: rbac\.authorization\.cluster\.io\/v1 has the names of the identity "cluster": start with identity cluster/,
  ],
  [
    'a field of another type',
    list(configMap({ name: 'a' }, { data: 3 })),
    /:1, item 0: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: data: cannot read/,
  ],
  ['an object without a name', list(configMap({})), /item 0: it has no metadata\.name/],
  ['a name with a slash', list(configMap({ name: 'a/b' })), /must not contain a slash/],
  ['a name that is too long', list(configMap({ name: 'a'.repeat(3000) })), /item 0: a storage key must not be longer than 1900 bytes/],
  ['a uid with quotes', list(configMap({ name: 'a', uid: '","x":"' })), /metadata\.uid is not an identifier/],
  [
    'a version that is too high',
    list(configMap({ name: 'a', uid: 'u', resourceVersion: '9'.repeat(20) })),
    /the resourceVersion 9{20} is greater than/,
  ],
  [
    'new objects with the same name',
    list(configMap({ name: 'a' }), configMap({ name: 'a' })),
    /item 1: ConfigMap a is in the capture already, at .*item 0/,
  ],
  ['an item that is no object', '{"apiVersion":"v1","kind":"List","items":[3]}', /item 0: an object is expected/],
  ['a document without kind', 'a: b\n', /:1: it has no kind/],
  ['a document that is no object', '---\n- a\n', /:1: an object is expected/],
  ['broken YAML', 'kind: Pod\nmetadata: {name: a\n', /yaml: line \d/],
  ['broken JSON', '{"kind":', /from: .*yaml: line 1/],
  [
    'an unknown binary format',
    Buffer.from([0x1f, 0x8b, 8, 0, 0, 0]),
    /expected YAML or JSON, an etcd snapshot, or a backup of this server/,
  ],
  [
    'encrypted values',
    writeSnapshot([{ key: '/registry/secrets/a/b', revision: 2, value: Buffer.from('k8s:enc:aescbc:v1:key:x') }]),
    /\/registry\/secrets\/a\/b: the value is encrypted at rest/,
  ],
  [
    'a store of this server',
    writeSnapshot([{ key: '/registry.format', revision: 2, value: Buffer.from('{}') }]),
    /export it with `cluster-apiserver backup` instead/,
  ],
  ['an empty snapshot', writeSnapshot([]), /it has no objects/],
  ['an empty file', '', /it has no objects/],
  ['an empty List', list(), /it has no objects/],
  [
    'damaged Protobuf',
    writeSnapshot([{ key: '/registry/a/b', revision: 2, value: Buffer.from('k8s\0\n\x7f', 'latin1') }]),
    /\/registry\/a\/b: unexpected EOF/,
  ],
  [
    'a truncated snapshot',
    writeSnapshot([etcdWrite('/registry/namespaces/shop', 100, stored(namespace))], {}).subarray(0, 9000),
    /at byte 9000: the file ends here/,
  ],
  ['a truncated backup', 'cluster-apiserver backup 2\n{"mark":"kubernetes","revision":3}\n\0\0', /from: .*the backup .* is truncated/],
  [
    'a backup of the other identity',
    'cluster-apiserver backup 2\n{"mark":"cluster","revision":3}\n\0\0\0\0',
    /the backup has the names of the identity "cluster": start with identity cluster/,
  ],
]

for (const [title, content, error] of refusals)
  test(`refuses ${title}`, async () => {
    const path = fileWith(content)
    await assert.rejects(importFrom(path), (thrown: Error) => {
      assert.equal(thrown.name, 'StartupError', thrown.stack)
      assert.match(thrown.message, error)
      assert.match(thrown.message, /^from: /)
      return true
    })
  })

test('refuses paths that cannot be read', async () => {
  await assert.rejects(importFrom(join(captureFolder, 'missing')), /from: .*missing: cannot be read: ENOENT/)
  await assert.rejects(importFrom(folderWith({ 'a.txt': '' })), /has no file that ends in \.yaml, \.yml or \.json/)
  await assert.rejects(importFrom('/dev/null'), /not a regular file/)
})
