// Which form an answer gets: Accept headers against offers, prettiness, refusals, and the types of bodies.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import { identityOf } from '../api/identity.js'
import { readQuery } from '../api/options/query.js'
import { parseAccept } from './accept.js'
import { parseMediaType } from './media-type.js'
import {
  allFormats,
  checkStream,
  mediaTypeOf,
  negotiate,
  negotiateBody,
  negotiateError,
  negotiatePatch,
  type Offer,
  streamMediaTypeOf,
  type Wish,
} from './negotiation.js'

const identity = identityOf('kubernetes')
const protobuf = 'application/vnd.kubernetes.protobuf'
const builtIn: Offer = { identity, formats: allFormats, transforms: true, routed: true }
const custom: Offer = { identity, formats: allFormats, plainFormats: ['json', 'yaml'], transforms: true, routed: false }
const wish = (accept: string | undefined, query = '', userAgent?: string): Wish => ({ accept, query: readQuery(query), userAgent })
const table = 'as=Table;g=meta.k8s.io;v=v1'

const accepted: readonly { readonly accept: string | undefined; readonly answer: object; readonly offer?: Offer }[] = [
  { accept: undefined, answer: { format: 'json', pretty: false } },
  { accept: '', answer: { format: 'json', pretty: false } },
  { accept: '*/*', answer: { format: 'json', pretty: false } },
  { accept: 'application/json', answer: { format: 'json', pretty: false } },
  { accept: 'application/json, */*', answer: { format: 'json', pretty: false } },
  { accept: 'application/yaml', answer: { format: 'yaml', pretty: false } },
  { accept: protobuf, answer: { format: 'protobuf', pretty: false } },
  { accept: 'application/json;q=0.1, application/yaml;q=0.9', answer: { format: 'yaml', pretty: false } },
  { accept: 'application/json;q=0', answer: { format: 'json', pretty: false } },
  { accept: `text/csv, ${protobuf}, application/json`, answer: { format: 'protobuf', pretty: false } },
  { accept: '*/*;q=1, application/yaml;q=0.1', answer: { format: 'yaml', pretty: false } },
  { accept: 'application/json;pretty=1', answer: { format: 'json', pretty: true } },
  { accept: 'application/yaml;pretty=1', answer: { format: 'yaml', pretty: false } },
  { accept: 'application/json;charset=utf-8', answer: { format: 'json', pretty: false } },
  { accept: 'application/json;stream=watch', answer: { format: 'json', pretty: false } },
  { accept: `application/json;${table}`, answer: { format: 'json', as: { kind: 'Table', version: 'v1' }, pretty: false } },
  {
    accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
    answer: { format: 'json', as: { kind: 'Table', version: 'v1beta1' }, pretty: false },
  },
  {
    accept: `${protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`,
    answer: { format: 'protobuf', as: { kind: 'PartialObjectMetadataList', version: 'v1' }, pretty: false },
  },
  { accept: `${protobuf};${table}, application/json`, answer: { format: 'json', pretty: false } },
  { accept: 'application/json;as=Summary;g=meta.k8s.io;v=v1, application/json', answer: { format: 'json', pretty: false } },
  { accept: 'application/json;as=Table, application/yaml', answer: { format: 'yaml', pretty: false } },
  {
    accept: `application/json;${table},application/json`,
    answer: { format: 'json', pretty: false },
    offer: { ...builtIn, transforms: false },
  },
  { accept: 'application/*', answer: { format: 'json', pretty: false }, offer: custom },
  { accept: `${protobuf}, application/json`, answer: { format: 'json', pretty: false }, offer: custom },
  {
    accept: `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`,
    answer: { format: 'protobuf', as: { kind: 'PartialObjectMetadata', version: 'v1' }, pretty: false },
    offer: custom,
  },
]
for (const { accept, answer, offer } of accepted)
  test(`accept: ${accept}${offer === custom ? ' (custom)' : ''}`, () => assert.deepEqual(negotiate(wish(accept), offer ?? builtIn), answer))

const list = `application/json, application/yaml, ${protobuf}`
const routed = `406: Not Acceptable\n\nAvailable representations: ${list}`
const refused: readonly { readonly accept: string; readonly message: string; readonly offer?: Offer }[] = [
  { accept: 'text/csv', message: routed },
  { accept: 'application/*', message: routed },
  { accept: 'nonsense', message: routed },
  {
    accept: 'text/csv',
    message: `${routed}, application/json;stream=watch, ${protobuf};stream=watch`,
    offer: { ...builtIn, streams: true },
  },
  { accept: `${protobuf};${table}`, message: `only the following media types are accepted: ${list}` },
  { accept: 'application/json;as=Table;g=meta.cluster.io;v=v1', message: `only the following media types are accepted: ${list}` },
  { accept: 'application/json;stream=other', message: `only the following media types are accepted: ${list}` },
  { accept: protobuf, message: `only the following media types are accepted: ${list}`, offer: custom },
  { accept: 'text/csv', message: `only the following media types are accepted: ${list}`, offer: custom },
]
for (const { accept, message, offer } of refused)
  test(`not acceptable: ${accept}`, () => {
    assert.throws(
      () => negotiate(wish(accept), offer ?? builtIn),
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

test('a stream has no YAML', () => {
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
  { query: '', agent: undefined, is: false },
  { query: '', agent: 'curl/7.88.1', is: true },
  { query: '', agent: 'Wget/1.21', is: true },
  { query: '', agent: 'Mozilla/5.0 (X11)', is: true },
  { query: '', agent: 'Mozilla/4.0', is: false },
  { query: '', agent: 'kubectl/v1.26.0', is: false },
  { query: 'pretty=true', agent: undefined, is: true },
  { query: 'pretty=1', agent: undefined, is: true },
  { query: 'pretty=yes', agent: undefined, is: false },
  { query: 'pretty=false', agent: 'curl/7', is: false },
  { query: 'pretty', agent: 'curl/7', is: true },
]
for (const { query, agent, is } of pretty)
  test(`pretty: ?${query} ${agent ?? ''}`, () => {
    assert.equal(negotiate(wish('application/json', query, agent), builtIn).pretty, is)
    assert.equal(negotiate(wish('application/json;q=0.5', query, agent), builtIn).pretty, is)
    assert.equal(negotiate(wish('application/yaml', query, agent), builtIn).pretty, false)
  })

const errors = [
  { accept: undefined, answer: { format: 'json', pretty: false } },
  { accept: 'application/yaml', answer: { format: 'yaml', pretty: false } },
  { accept: protobuf, answer: { format: 'protobuf', pretty: false } },
  { accept: 'application/*', answer: { format: 'json', pretty: false } },
  { accept: 'text/csv', answer: { format: 'json', pretty: true } },
  { accept: `application/json;${table}`, answer: { format: 'json', pretty: true } },
  { accept: `application/json;${table}, application/yaml`, answer: { format: 'yaml', pretty: false } },
] as const
for (const { accept, answer } of errors)
  test(`form of an error: ${accept}`, () => assert.deepEqual(negotiateError(wish(accept), identity), answer))

const orders = [
  { header: 'a/b;q=0.1, c/d;q=0.9, e/f', order: 'e/f c/d a/b' },
  { header: '*/*, a/*, a/b', order: 'a/b a/* */*' },
  { header: 'a/b;q=x, c/d;q=0.1', order: 'c/d a/b' },
  { header: 'text, */, a/b/c, /, a/b', order: 'a/b */*' },
  { header: Array.from({ length: 20 }, (_, index) => `a/${index};q=0.${index + 10}`).join(','), order: '' },
]
for (const { header, order } of orders)
  test(`order of ${header.slice(0, 40)}`, () => {
    const shown = parseAccept(header).map(({ type, subtype }) => `${type}/${subtype}`)
    if (order === '') assert.equal(shown[0], 'a/19')
    else assert.equal(shown.filter((type) => type !== '/').join(' '), order)
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
  test(`body: ${type}`, () => {
    if (format !== undefined) assert.equal(negotiateBody(type, builtIn), format)
    else
      assert.throws(
        () => negotiateBody(type, builtIn),
        (thrown) =>
          thrown instanceof ApiError &&
          thrown.status.code === 415 &&
          thrown.message === `the body of the request was in an unknown format - accepted media types include: ${list}`,
      )
  })

test('a custom resource is not read from Protobuf', () => assert.throws(() => negotiateBody(protobuf, custom), /unknown format/))

const patchTypes = ['application/json-patch+json', 'application/merge-patch+json'] as const
test('ways to patch', () => {
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

test('media types with quoted parameters', () => {
  assert.equal(parseMediaType('a/b; x="y;\\"z"; w=1'), 'a/b')
  assert.equal(parseMediaType('a/b; x="y'), undefined)
  assert.equal(parseMediaType('a b/c'), undefined)
})

test('a media type with too many parameters, or too long, is none', () => {
  const parameters = (count: number): string => Array.from({ length: count }, (_, i) => `;p${i}=1`).join('')
  assert.equal(parseMediaType(`a/b${parameters(32)}`), 'a/b')
  assert.equal(parseMediaType(`a/b${parameters(33)}`), undefined)
  assert.equal(parseMediaType(`a/b;x=${'y'.repeat(5000)}`), undefined)
  assert.equal(parseMediaType('a/b ; x=y ; '), 'a/b')
  assert.equal(parseMediaType('a/b; x'), undefined)
})

test('of an Accept header so many clauses are looked at, and weights may be long', () => {
  const many = (count: number): string => Array.from({ length: count }, (_, i) => `x/y${i}`).join(',')
  assert.equal(parseAccept(`${many(63)},application/yaml`).length, 64)
  assert.equal(parseAccept(`${many(64)},application/yaml`).at(-1)?.subtype, 'y63')
  assert.equal(parseAccept('a/b;q=.5')[0]?.weight, 0.5)
  assert.equal(parseAccept('a/b;q=1.')[0]?.weight, 1)
  assert.equal(parseAccept(`a/b;q=0.${'0'.repeat(50_000)}1`)[0]?.weight, 0)
  assert.equal(parseAccept(`a/b;q=${'0'.repeat(50_000)}x`)[0]?.weight, 0)
})
