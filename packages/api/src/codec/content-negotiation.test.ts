// Tests of content negotiation: Accept header, pretty printing, 406 and 415 errors, body media types.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import { identityOf } from '../api/identity.js'
import { readQuery } from '../api/options/query.js'
import { parseAccept } from './accept-header.js'
import {
  allFormats,
  checkStream,
  mediaTypeOf,
  negotiate,
  negotiateBody,
  negotiateError,
  negotiatePatch,
  type Offer,
  parseMediaType,
  type ResponsePreferences,
  streamMediaTypeOf,
} from './content-negotiation.js'

const identity = identityOf('kubernetes')
const protobuf = 'application/vnd.kubernetes.protobuf'
const builtIn: Offer = { identity, formats: allFormats, transforms: true, routed: true }
const custom: Offer = { identity, formats: allFormats, plainFormats: ['json', 'yaml'], transforms: true, routed: false }
const preferences = (accept: string | undefined, query = '', userAgent?: string): ResponsePreferences => ({
  accept,
  query: readQuery(query),
  userAgent,
})
const table = 'as=Table;g=meta.k8s.io;v=v1'

const accepted: readonly (readonly [accept: string | undefined, expected: object, offer?: Offer])[] = [
  [undefined, { format: 'json', pretty: false }],
  ['', { format: 'json', pretty: false }],
  ['*/*', { format: 'json', pretty: false }],
  ['application/json', { format: 'json', pretty: false }],
  ['application/json, */*', { format: 'json', pretty: false }],
  ['application/yaml', { format: 'yaml', pretty: false }],
  [protobuf, { format: 'protobuf', pretty: false }],
  ['application/json;q=0.1, application/yaml;q=0.9', { format: 'yaml', pretty: false }],
  ['application/json;q=0', { format: 'json', pretty: false }],
  [`text/csv, ${protobuf}, application/json`, { format: 'protobuf', pretty: false }],
  ['*/*;q=1, application/yaml;q=0.1', { format: 'yaml', pretty: false }],
  ['application/json;pretty=1', { format: 'json', pretty: true }],
  ['application/yaml;pretty=1', { format: 'yaml', pretty: false }],
  ['application/json;charset=utf-8', { format: 'json', pretty: false }],
  ['application/json;stream=watch', { format: 'json', pretty: false }],
  [`application/json;${table}`, { format: 'json', as: { kind: 'Table', version: 'v1' }, pretty: false }],
  [
    'application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
    { format: 'json', as: { kind: 'Table', version: 'v1beta1' }, pretty: false },
  ],
  [
    `${protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`,
    { format: 'protobuf', as: { kind: 'PartialObjectMetadataList', version: 'v1' }, pretty: false },
  ],
  [`${protobuf};${table}, application/json`, { format: 'json', pretty: false }],
  ['application/json;as=Summary;g=meta.k8s.io;v=v1, application/json', { format: 'json', pretty: false }],
  ['application/json;as=Table, application/yaml', { format: 'yaml', pretty: false }],
  [`application/json;${table},application/json`, { format: 'json', pretty: false }, { ...builtIn, transforms: false }],
  ['application/*', { format: 'json', pretty: false }, custom],
  [`${protobuf}, application/json`, { format: 'json', pretty: false }, custom],
  [
    `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`,
    { format: 'protobuf', as: { kind: 'PartialObjectMetadata', version: 'v1' }, pretty: false },
    custom,
  ],
]
for (const [accept, expected, offer] of accepted)
  test(`accept: ${accept}${offer === custom ? ' (custom)' : ''}`, () =>
    assert.deepEqual(negotiate(preferences(accept), offer ?? builtIn), expected))

const mediaTypes = `application/json, application/yaml, ${protobuf}`
const routedMessage = `406: Not Acceptable\n\nAvailable representations: ${mediaTypes}`
const refused: readonly (readonly [accept: string, message: string, offer?: Offer])[] = [
  ['text/csv', routedMessage],
  ['application/*', routedMessage],
  ['nonsense', routedMessage],
  ['text/csv', `${routedMessage}, application/json;stream=watch, ${protobuf};stream=watch`, { ...builtIn, streams: true }],
  [`${protobuf};${table}`, `only the following media types are accepted: ${mediaTypes}`],
  ['application/json;as=Table;g=meta.cluster.io;v=v1', `only the following media types are accepted: ${mediaTypes}`],
  ['application/json;stream=other', `only the following media types are accepted: ${mediaTypes}`],
  [protobuf, `only the following media types are accepted: ${mediaTypes}`, custom],
  ['text/csv', `only the following media types are accepted: ${mediaTypes}`, custom],
]
for (const [accept, message, offer] of refused)
  test(`not acceptable: ${accept}`, () => {
    assert.throws(
      () => negotiate(preferences(accept), offer ?? builtIn),
      (thrown) => {
        assert.ok(thrown instanceof ApiError)
        assert.equal(thrown.message, message)
        assert.equal(thrown.status.code, 406)
        assert.equal(thrown.status.reason, 'NotAcceptable')
        assert.deepEqual(thrown.status.details, message.startsWith('406') ? {} : undefined)
        return true
      },
    )
  })

test('a watch rejects YAML', () => {
  assert.throws(
    () => checkStream({ format: 'yaml', pretty: false }, builtIn),
    /only the following media types are accepted: application\/json;stream=watch, application\/vnd\.kubernetes\.protobuf;stream=watch$/,
  )
  checkStream({ format: 'protobuf', pretty: false }, builtIn)
  assert.equal(streamMediaTypeOf('json', identity), 'application/json')
  assert.equal(streamMediaTypeOf('protobuf', identity), `${protobuf};stream=watch`)
  assert.equal(mediaTypeOf('protobuf', identityOf('cluster')), 'application/vnd.cluster.protobuf')
})

const pretty = [
  { query: '', agent: undefined, isPretty: false },
  { query: '', agent: 'curl/7.88.1', isPretty: true },
  { query: '', agent: 'Wget/1.21', isPretty: true },
  { query: '', agent: 'Mozilla/5.0 (X11)', isPretty: true },
  { query: '', agent: 'Mozilla/4.0', isPretty: false },
  { query: '', agent: 'kubectl/v1.26.0', isPretty: false },
  { query: 'pretty=true', agent: undefined, isPretty: true },
  { query: 'pretty=1', agent: undefined, isPretty: true },
  { query: 'pretty=yes', agent: undefined, isPretty: false },
  { query: 'pretty=false', agent: 'curl/7', isPretty: false },
  { query: 'pretty', agent: 'curl/7', isPretty: true },
]
for (const { query, agent, isPretty } of pretty)
  test(`pretty: ?${query} ${agent ?? ''}`, () => {
    assert.equal(negotiate(preferences('application/json', query, agent), builtIn).pretty, isPretty)
    assert.equal(negotiate(preferences('application/json;q=0.5', query, agent), builtIn).pretty, isPretty)
    assert.equal(negotiate(preferences('application/yaml', query, agent), builtIn).pretty, false)
  })

const errors = [
  { accept: undefined, expected: { format: 'json', pretty: false } },
  { accept: 'application/yaml', expected: { format: 'yaml', pretty: false } },
  { accept: protobuf, expected: { format: 'protobuf', pretty: false } },
  { accept: 'application/*', expected: { format: 'json', pretty: false } },
  { accept: 'text/csv', expected: undefined },
  { accept: `application/json;${table}`, expected: undefined },
  { accept: `application/json;${table}, application/yaml`, expected: { format: 'yaml', pretty: false } },
] as const
for (const { accept, expected } of errors)
  test(`representation of an error: ${accept}`, () => assert.deepEqual(negotiateError(preferences(accept), identity), expected))

const orders = [
  { header: 'a/b;q=0.1, c/d;q=0.9, e/f', order: 'e/f c/d a/b' },
  { header: '*/*, a/*, a/b', order: 'a/b a/* */*' },
  { header: 'a/b;q=x, c/d;q=0.1', order: 'c/d a/b' },
  { header: 'text, */, a/b/c, /, a/b', order: 'a/b */*' },
  { header: Array.from({ length: 20 }, (_, index) => `a/${index};q=0.${index + 10}`).join(','), order: '' },
]
for (const { header, order } of orders)
  test(`order of clauses in ${header.slice(0, 40)}`, () => {
    const types = parseAccept(header).map(({ type, subtype }) => `${type}/${subtype}`)
    if (order === '') assert.equal(types[0], 'a/19')
    else assert.equal(types.filter((type) => type !== '/').join(' '), order)
  })

const bodies = [
  { type: undefined, format: 'json' },
  { type: '', format: 'json' },
  { type: 'application/json', format: 'json' },
  { type: 'Application/JSON; charset=utf-8', format: 'json' },
  { type: 'application/json;', format: 'json' },
  { type: 'application/yaml', format: 'yaml' },
  { type: protobuf, format: 'protobuf' },
  { type: 'text/plain', format: undefined },
  { type: 'json;;', format: undefined },
  { type: 'application/json; charset', format: undefined },
  { type: 'application/json; a=1; a=2', format: undefined },
]
for (const { type, format } of bodies)
  test(`format of a body with Content-Type ${type}`, () => {
    if (format !== undefined) assert.equal(negotiateBody(type, builtIn), format)
    else
      assert.throws(
        () => negotiateBody(type, builtIn),
        (thrown) =>
          thrown instanceof ApiError &&
          thrown.status.code === 415 &&
          thrown.message === `the body of the request was in an unknown format - accepted media types include: ${mediaTypes}`,
      )
  })

test('a custom resource rejects Protobuf bodies', () => assert.throws(() => negotiateBody(protobuf, custom), /unknown format/))

const patchTypes = ['application/json-patch+json', 'application/merge-patch+json'] as const
test('negotiatePatch returns the patch type or 415', () => {
  const offer = { types: patchTypes, routed: true, length: '2' }
  assert.equal(negotiatePatch('application/merge-patch+json; charset=utf-8', offer), 'application/merge-patch+json')
  for (const type of ['Application/Merge-Patch+JSON', 'application/json', '', undefined])
    assert.throws(() => negotiatePatch(type, offer), /^ApiError: 415: Unsupported Media Type$/)
  assert.throws(() => negotiatePatch('text/plain', { ...offer, length: '0' }), /^ApiError: 406: Not Acceptable/)
  assert.throws(() => negotiatePatch('text/plain', { ...offer, length: undefined }), /^ApiError: 415: Unsupported Media Type\n\nAvailable/)
  assert.throws(
    () => negotiatePatch('application/strategic-merge-patch+json', { ...offer, routed: false }),
    /accepted media types include: application\/json-patch\+json, application\/merge-patch\+json$/,
  )
})

test('parseMediaType accepts quoted parameters and rejects invalid ones', () => {
  assert.equal(parseMediaType('a/b; x="y;\\"z"; w=1'), 'a/b')
  assert.equal(parseMediaType('a/b; x="y'), undefined)
  assert.equal(parseMediaType('a b/c'), undefined)
})

test('a media type with too many parameters or characters is rejected', () => {
  const parameters = (count: number): string => Array.from({ length: count }, (_, i) => `;p${i}=1`).join('')
  assert.equal(parseMediaType(`a/b${parameters(32)}`), 'a/b')
  assert.equal(parseMediaType(`a/b${parameters(33)}`), undefined)
  assert.equal(parseMediaType(`a/b;x=${'y'.repeat(5000)}`), undefined)
  assert.equal(parseMediaType('a/b ; x=y ; '), 'a/b')
  assert.equal(parseMediaType('a/b; x'), undefined)
})

test('the number of Accept clauses is limited, long weights are parsed', () => {
  const many = (count: number): string => Array.from({ length: count }, (_, i) => `x/y${i}`).join(',')
  assert.equal(parseAccept(`${many(63)},application/yaml`).length, 64)
  assert.equal(parseAccept(`${many(64)},application/yaml`).at(-1)?.subtype, 'y63')
  assert.equal(parseAccept('a/b;q=.5')[0]?.weight, 0.5)
  assert.equal(parseAccept('a/b;q=1.')[0]?.weight, 1)
  assert.equal(parseAccept(`a/b;q=0.${'0'.repeat(50_000)}1`)[0]?.weight, 0)
  assert.equal(parseAccept(`a/b;q=${'0'.repeat(50_000)}x`)[0]?.weight, 0)
})
