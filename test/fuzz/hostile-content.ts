// Valid HTTP with hostile content: deep nesting, names such as __proto__, extreme queries.

interface HostileContent {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: string | Buffer
  readonly type?: string
}

const collection = '/api/v1/namespaces/default/configmaps'
const deep = 100_000

/** Names that exist on every JavaScript object. */
const inherited = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']

const post = (name: string, body: string | Buffer, type = 'application/json'): HostileContent => ({
  name,
  method: 'POST',
  path: `${collection}?dryRun=All`,
  body,
  type,
})

const bodies: readonly HostileContent[] = [
  post('arrays nested 100,000 deep', '['.repeat(deep) + ']'.repeat(deep)),
  post('objects nested 100,000 deep', `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`),
  post('deep nesting in data', `{"metadata":{"name":"d"},"data":${'{"a":'.repeat(deep)}"x"${'}'.repeat(deep)}}`),
  post('deep nesting in an unknown field', `{"metadata":{"name":"d"},"extra":${'['.repeat(deep)}${']'.repeat(deep)}}`),
  post('unclosed arrays', '['.repeat(deep)),
  post('invalid UTF-8', Buffer.concat([Buffer.from('{"metadata":{"name":"'), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}}')])),
  post('a lone surrogate', '{"metadata":{"name":"u","annotations":{"a":"\\ud800"}}}'),
  post('a NUL byte', '{"metadata":{"name":"a\\u0000b"}}'),
  post('a byte order mark', '\ufeff{"metadata":{"name":"bom"}}'),
  post('an integer of 5,000 digits', `{"metadata":{"name":"n","generation":${'9'.repeat(5000)}}}`),
  post('an exponent out of range', '{"metadata":{"name":"n","generation":1e999999999}}'),
  post('a negative zero', '{"metadata":{"name":"n","generation":-0.0}}'),
  post(
    '100,000 keys',
    JSON.stringify({ metadata: { name: 'k' }, data: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, ''])) }),
  ),
  post('100,000 duplicate keys', `{"metadata":{"name":"k"},"data":{${'"a":"b",'.repeat(100_000)}"a":"c"}}`),
  post('100,000 unknown fields', `{"metadata":{"name":"k"},${Array.from({ length: 100_000 }, (_, i) => `"f${i}":1`).join(',')}}`),
  post('two documents', '{"metadata":{"name":"a"}}{"metadata":{"name":"b"}}'),
  post('white space only', ' \n\t '),
  post('a name of 1 MB', `{"metadata":{"name":"${'a'.repeat(1_000_000)}"}}`),
  post('a key of 1 MB', `{"metadata":{"name":"a","labels":{"${'a'.repeat(1_000_000)}":""}}}`),
  post(
    'YAML with exponential aliases (billion laughs)',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'
      .split('')
      .map((c, i) => `${c}: &${c} [${Array.from({ length: 9 }, () => `*${'abcdefghij'[i]}`).join(',')}]`)
      .join('\n')}`,
    'application/yaml',
  ),
  post('YAML with a recursive alias', 'metadata: &m\n  name: y\n  labels: *m\n', 'application/yaml'),
  post('YAML nested 100,000 deep', '['.repeat(deep), 'application/yaml'),
  post('YAML with a tag', 'metadata: !!js/function "return 1"\n', 'application/yaml'),
  post('invalid Protobuf', 'k8s\0\xff\xff\xff\xff\xff', 'application/vnd.cluster.protobuf'),
  post('Protobuf with a length beyond its end', Buffer.from('6b3873000affffffff0f', 'hex'), 'application/vnd.cluster.protobuf'),
  post('an invalid media type', '{}', ';;;=,/'),
  {
    name: 'JSON patch of __proto__',
    method: 'PATCH',
    path: `${collection}/missing`,
    body: '[{"op":"test","path":"/__proto__/x","value":1}]',
    type: 'application/json-patch+json',
  },
  { name: 'deeply nested DeleteOptions', method: 'DELETE', path: `${collection}/missing`, body: '['.repeat(deep) },
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
  ['10,000 parameters', Array.from({ length: 10_000 }, (_, i) => `a${i}=b`).join('&')],
  ['one parameter 10,000 times', 'limit=1&'.repeat(10_000)],
  ['invalid percent-encoding', 'labelSelector=%zz&a=%'],
  ['percent-encoded invalid UTF-8', 'labelSelector=%ff%fe'],
  ['a NUL byte', 'labelSelector=a%00b'],
  ['ampersands', '&'.repeat(10_000)],
  ['equals signs', '='.repeat(10_000)],
  ['a limit out of range', 'limit=99999999999999999999999999'],
  ['a negative timeout', 'watch=1&timeoutSeconds=-5'],
  ['a timeout out of range', 'timeoutSeconds=1e30'],
  ['a resourceVersion out of range', 'resourceVersion=99999999999999999999999999'],
  ['an invalid continue token', `continue=${'A'.repeat(10_000)}`],
  ['a continue token with deeply nested JSON', `continue=${Buffer.from('['.repeat(20_000)).toString('base64url')}`],
  ['a label selector with 10,000 requirements', `labelSelector=${'a=b,'.repeat(10_000)}a=b`],
  ['a label selector with 10,000 brackets', `labelSelector=${'('.repeat(10_000)}`],
  ['a label key of 50,000 characters', `labelSelector=${'a'.repeat(50_000)}!`],
  ['a set with 10,000 values', `labelSelector=a%20in%20(${'b,'.repeat(10_000)}b)`],
  ['a field selector with 10,000 terms', `fieldSelector=${'metadata.name=a,'.repeat(10_000)}metadata.name=a`],
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
