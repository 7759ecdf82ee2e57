// Well-formed HTTP with hostile content: bodies that go deep, names that mean something to the language, queries beyond reason.

export interface HostileContent {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: string | Buffer
  readonly type?: string
}

const collection = '/api/v1/namespaces/default/configmaps'
const deep = 100_000

/** Names that a careless program finds on every object. */
const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']

const post = (name: string, body: string | Buffer, type = 'application/json'): HostileContent => ({
  name,
  method: 'POST',
  path: `${collection}?dryRun=All`,
  body,
  type,
})

const bodies: readonly HostileContent[] = [
  post('arrays a hundred thousand deep', '['.repeat(deep) + ']'.repeat(deep)),
  post('objects a hundred thousand deep', `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`),
  post('deep below data', `{"metadata":{"name":"d"},"data":${'{"a":'.repeat(deep)}"x"${'}'.repeat(deep)}}`),
  post('deep below an unknown field', `{"metadata":{"name":"d"},"extra":${'['.repeat(deep)}${']'.repeat(deep)}}`),
  post('arrays that are never closed', '['.repeat(deep)),
  post(
    'bytes that are no UTF-8',
    Buffer.concat([Buffer.from('{"metadata":{"name":"'), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}}')]),
  ),
  post('half a character', '{"metadata":{"name":"u","annotations":{"a":"\\ud800"}}}'),
  post('a zero byte', '{"metadata":{"name":"a\\u0000b"}}'),
  post('a byte order mark', '\ufeff{"metadata":{"name":"bom"}}'),
  post('numbers beyond all numbers', `{"metadata":{"name":"n","generation":${'9'.repeat(5000)}}}`),
  post('an exponent beyond all numbers', '{"metadata":{"name":"n","generation":1e999999999}}'),
  post('a negative zero', '{"metadata":{"name":"n","generation":-0.0}}'),
  post(
    'a hundred thousand keys',
    JSON.stringify({ metadata: { name: 'k' }, data: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, ''])) }),
  ),
  post('a hundred thousand duplicates', `{"metadata":{"name":"k"},"data":{${'"a":"b",'.repeat(100_000)}"a":"c"}}`),
  post(
    'a hundred thousand unknown fields',
    `{"metadata":{"name":"k"},${Array.from({ length: 100_000 }, (_, i) => `"f${i}":1`).join(',')}}`,
  ),
  post('two documents', '{"metadata":{"name":"a"}}{"metadata":{"name":"b"}}'),
  post('white space only', ' \n\t '),
  post('a name of a megabyte', `{"metadata":{"name":"${'a'.repeat(1_000_000)}"}}`),
  post('a key of a megabyte', `{"metadata":{"name":"a","labels":{"${'a'.repeat(1_000_000)}":""}}}`),
  post(
    'YAML that multiplies',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'
      .split('')
      .map((c, i) => `${c}: &${c} [${Array.from({ length: 9 }, () => `*${'abcdefghij'[i]}`).join(',')}]`)
      .join('\n')}`,
    'application/yaml',
  ),
  post('YAML that contains itself', 'metadata: &m\n  name: y\n  labels: *m\n', 'application/yaml'),
  post('YAML a hundred thousand deep', '['.repeat(deep), 'application/yaml'),
  post('YAML with a tag', 'metadata: !!js/function "return 1"\n', 'application/yaml'),
  post('no Protobuf', 'k8s\0\xff\xff\xff\xff\xff', 'application/vnd.cluster.protobuf'),
  post('Protobuf that promises too much', Buffer.from('6b3873000affffffff0f', 'hex'), 'application/vnd.cluster.protobuf'),
  post('a media type of nonsense', '{}', ';;;=,/'),
  {
    name: 'JSON patch that goes nowhere',
    method: 'PATCH',
    path: `${collection}/nobody`,
    body: '[{"op":"test","path":"/__proto__/x","value":1}]',
    type: 'application/json-patch+json',
  },
  { name: 'options for deletion that are none', method: 'DELETE', path: `${collection}/nobody`, body: '['.repeat(deep) },
]

const inheritedBodies: readonly HostileContent[] = inherited.flatMap((key) => [
  post(`${key} at the top`, `{"metadata":{"name":"p"},"${key}":{"polluted":"yes"}}`),
  post(`${key} in metadata`, `{"metadata":{"name":"p","${key}":{"polluted":"yes"}}}`),
  post(`${key} in labels`, `{"metadata":{"name":"p","labels":{"${key}":"polluted"}}}`),
  post(`${key} in annotations`, `{"metadata":{"name":"p","annotations":{"${key}":"polluted"}}}`),
  post(`${key} in data`, `{"metadata":{"name":"p"},"data":{"${key}":"polluted"}}`),
  post(`${key} as an object in data`, `{"metadata":{"name":"p"},"data":{"${key}":{"polluted":"yes"}}}`),
  post(`${key} in YAML`, `metadata:\n  name: p\n  labels:\n    ${key}: polluted\n${key}:\n  polluted: "yes"\n`, 'application/yaml'),
  post(`${key} as kind`, `{"kind":"${key}","apiVersion":"${key}","metadata":{"name":"p"}}`),
  { name: `${key} as resource`, method: 'GET', path: `/api/v1/${key}` },
  { name: `${key} as group`, method: 'GET', path: `/apis/${key}/v1/things` },
  { name: `${key} as version`, method: 'GET', path: `/api/${key}/configmaps` },
  { name: `${key} as namespace`, method: 'GET', path: `/api/v1/namespaces/${key}/configmaps` },
  { name: `${key} as name`, method: 'GET', path: `${collection}/${key}` },
  { name: `${key} as subresource`, method: 'GET', path: `/api/v1/namespaces/default/${key}` },
  { name: `${key} as parameter`, method: 'GET', path: `${collection}?${key}=1&${key}[polluted]=yes` },
  { name: `${key} as label selector`, method: 'GET', path: `${collection}?labelSelector=${key}` },
  { name: `${key} as label of a selector`, method: 'GET', path: `${collection}?labelSelector=${key}=polluted,!${key}` },
  { name: `${key} as field`, method: 'GET', path: `${collection}?fieldSelector=${key}=polluted` },
  { name: `${key} as health check`, method: 'GET', path: `/livez/${key}` },
  { name: `${key} as path`, method: 'GET', path: `/${key}` },
  {
    name: `${key} as field manager`,
    method: 'POST',
    path: `${collection}?dryRun=All&fieldManager=${key}`,
    body: '{"metadata":{"name":"p"},"data":{"a":"b"}}',
  },
])

const queries: readonly HostileContent[] = [
  ['ten thousand parameters', Array.from({ length: 10_000 }, (_, i) => `a${i}=b`).join('&')],
  ['one parameter ten thousand times', 'limit=1&'.repeat(10_000)],
  ['percent signs without digits', 'labelSelector=%zz&a=%'],
  ['percent signs that are no UTF-8', 'labelSelector=%ff%fe'],
  ['a zero byte', 'labelSelector=a%00b'],
  ['ampersands', '&'.repeat(10_000)],
  ['equals signs', '='.repeat(10_000)],
  ['a limit beyond all numbers', 'limit=99999999999999999999999999'],
  ['a negative timeout', 'watch=1&timeoutSeconds=-5'],
  ['a timeout beyond all numbers', 'timeoutSeconds=1e30'],
  ['a version beyond all numbers', 'resourceVersion=99999999999999999999999999'],
  ['a token of nonsense', `continue=${'A'.repeat(10_000)}`],
  ['a token of deep JSON', `continue=${Buffer.from('['.repeat(20_000)).toString('base64url')}`],
  ['a selector with ten thousand parts', `labelSelector=${'a=b,'.repeat(10_000)}a=b`],
  ['a selector with ten thousand brackets', `labelSelector=${'('.repeat(10_000)}`],
  ['a selector that asks a slow expression', `labelSelector=${'a'.repeat(50_000)}!`],
  ['a set with ten thousand values', `labelSelector=a%20in%20(${'b,'.repeat(10_000)}b)`],
  ['a field selector with ten thousand parts', `fieldSelector=${'metadata.name=a,'.repeat(10_000)}metadata.name=a`],
  ['backslashes', `fieldSelector=${'%5C'.repeat(10_000)}`],
].map(([name, query]) => ({ name: `query: ${name}`, method: 'GET', path: `${collection}?${query}` }))

const paths: readonly HostileContent[] = [
  '//api//v1//namespaces',
  '/api/v1/namespaces/%2e%2e/configmaps',
  '/api/v1/namespaces/../../secrets',
  '/api/v1/namespaces/default%2Fconfigmaps',
  '/api/v1/namespaces/default/configmaps/%zz',
  '/api/v1/namespaces/default/configmaps/%00',
  '/api/v1/namespaces/default/configmaps/%ff',
  `/${'a/'.repeat(50_000)}`,
  '/api/v1/namespaces/default/configmaps/a/b/c/d/e/f',
  '/%61pi/v1/namespaces',
  '/?'.repeat(1000),
  '/api/v1/watch/watch/watch',
  '/livez/../readyz',
].map((path) => ({ name: `path: ${path.slice(0, 40)}`, method: 'GET', path }))

export const hostileContents: readonly HostileContent[] = [...bodies, ...inheritedBodies, ...queries, ...paths]
