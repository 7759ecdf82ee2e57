// Tests of CertificateSigningRequests: fields that requester, approver and signer may write.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext, testNow } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { timeOf } from '../../schema/scalars.js'
import { encodeText } from '../core/base64-text.js'
import { rowTitle } from '../expect-errors.fixture.js'
import { certificate, request } from './certificate-signing-request.fixture.js'
import { certificateSigningRequest as definition } from './certificate-signing-request.js'
import type { CertificateSigningRequest, CertificateSigningRequestCondition as Condition } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'a', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
type Spec = NonNullable<CertificateSigningRequest['spec']>
type Status = NonNullable<CertificateSigningRequest['status']>
const spec: Spec = { request, signerName: 'example.com/s', usages: ['client auth'], username: 'u', groups: ['g'] }
const make = (more: Spec = {}, status: Status = {}): CertificateSigningRequest => frozen({ metadata, spec: { ...spec, ...more }, status })

test('create sets the authenticated user and drops the status', () => {
  const user = { name: 'alice', uid: '1', groups: ['devs'], extra: { k: ['v'] } }
  const sent = make({ username: 'root', groups: ['system:masters'], extra: { a: ['b'] } }, { certificate: 'AA==' })
  assert.deepEqual(definition.prepareCreate?.(sent, { ...context, user }), {
    metadata,
    spec: {
      request,
      signerName: 'example.com/s',
      usages: ['client auth'],
      username: 'alice',
      uid: '1',
      groups: ['devs'],
      extra: { k: ['v'] },
    },
    status: {},
  })
})

const signer = 'signerName: Invalid value:'
const rows: readonly (readonly [spec: Spec, ...expected: readonly string[]])[] = [
  [{ expirationSeconds: 600 }],
  [{ request: encodeText('nope') }, 'request: Invalid value: "bm9wZQ==": PEM block type must be CERTIFICATE REQUEST'],
  [
    { request: encodeText('-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n') },
    'request: Invalid value: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KQUFBQQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K": the PEM block must hold a PKCS#10 certificate request',
  ],
  [{ usages: [] }, 'usages: Required value'],
  [{ usages: ['any', 'any'] }, 'usages[1]: Duplicate value: "any"'],
  [{ signerName: '' }, 'signerName: Required value'],
  [{ signerName: 'x' }, `${signer} "x": must be a fully qualified domain and path of the form 'example.com/signer-name'`],
  [{ signerName: 'x/y' }, `${signer} "x": should be a domain with at least two segments separated by dots`],
  [
    { signerName: 'cluster.io/legacy-unknown' },
    `${signer} "cluster.io/legacy-unknown": the legacy signerName is not allowed via this API version`,
  ],
  [{ expirationSeconds: 599 }, 'expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)'],
]

for (const [spec, ...expected] of rows) {
  test(`create: ${rowTitle(spec, expected)}`, () => {
    assert.deepEqual(
      lines(validateCreation(definition, make(spec), context)),
      expected.map((line) => `spec.${line}`),
    )
  })
}

test('a name that is not a path segment is reported only if there are no other errors', () => {
  const named = (more: Spec) => ({ ...make(more), metadata: { ...metadata, name: '..' } })
  assert.deepEqual(lines(validateCreation(definition, named({}), context)), [`metadata.name: Invalid value: "..": may not be '..'`])
  assert.deepEqual(lines(validateCreation(definition, named({ usages: [] }), context)), ['spec.usages: Required value'])
})

test('an unknown usage is rejected', () => {
  const [error] = validateCreation(definition, make({ usages: ['eating'] }), context)
  assert.equal(error?.field, 'spec.usages[0]')
  assert.match(error?.message ?? '', /^Unsupported value: "eating": supported values: "any", .*"timestamping"$/)
})

test('an update changes neither spec nor status', () => {
  const old = make({}, { certificate })
  const next = definition.prepareUpdate?.(make({ usages: [] }), old, context)
  assert.deepEqual(next, old)
})

const part = (name: string) => {
  const subresource = definition.subresources?.find((candidate) => candidate.name === name)
  assert.ok(subresource !== undefined)
  return subresource
}
const write = (name: string, sent: CertificateSigningRequest, old: CertificateSigningRequest) => {
  const next = frozen(part(name).prepareUpdate(sent, old, context)) as CertificateSigningRequest
  return { next, errors: lines(validateChange(definition, { next, old, subresource: part(name) }, context)) }
}
const approved: Condition = { type: 'Approved', status: 'True' }
const times = { lastUpdateTime: timeOf(testNow), lastTransitionTime: timeOf(testNow) }

test('the approval subresource writes conditions with times, and no certificate', () => {
  const { next, errors } = write('approval', make({}, { conditions: [approved], certificate }), make())
  assert.deepEqual(errors, [])
  assert.deepEqual(next.status, { conditions: [{ ...approved, ...times }] })
})

const earlier = { ...approved, lastUpdateTime: '2024-01-01T00:00:00Z', lastTransitionTime: '2024-01-01T00:00:00Z' }
const changes: readonly (readonly [by: string, old: Status, sent: Status, ...expected: readonly string[]])[] = [
  [
    'approval',
    {},
    { conditions: [{ type: 'Approved', status: 'False' }] },
    'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
  ],
  [
    'approval',
    {},
    { conditions: [approved, { type: 'Denied', status: 'True' }] },
    'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
  ],
  ['approval', { conditions: [earlier] }, {}, 'status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
  ['approval', {}, { conditions: [{}] }, 'status.conditions[0].type: Required value', 'status.conditions[0].status: Required value'],
  ['status', {}, { conditions: [approved] }, 'status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
  ['status', { conditions: [earlier] }, { conditions: [earlier, { type: 'Failed', status: 'True' }] }],
  ['status', {}, { certificate }],
  [
    'status',
    {},
    { certificate: encodeText('x') },
    'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
  ],
  [
    'status',
    {},
    { certificate: request },
    'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
  ],
  ['status', { certificate }, {}, 'status.certificate: Forbidden: updates may not modify existing certificate content'],
]

for (const [by, old, sent, ...expected] of changes) {
  test(`${by}: ${rowTitle(sent, expected)}`, () => assert.deepEqual(write(by, make({}, sent), make({}, old)).errors, expected))
}

test('a status update keeps the approval or denial', () => {
  const { next, errors } = write(
    'status',
    make({}, { conditions: [{ ...approved, message: 'mine' }] }),
    make({}, { conditions: [earlier] }),
  )
  assert.deepEqual(errors, [])
  assert.deepEqual(next.status?.conditions, [earlier])
})

const states: readonly (readonly [title: string, status: Status, state: string])[] = [
  ['pending', {}, 'Pending'],
  ['issued', { conditions: [approved], certificate }, 'Approved,Issued'],
  ['denied and failed', { conditions: [{ type: 'Denied' }, { type: 'Failed' }] }, 'Denied,Failed'],
]

for (const [title, status, state] of states) {
  test(`printer columns of a request that is ${title}`, () => {
    const cells = definition.table?.cells(make({ expirationSeconds: 7200 }, status), context)
    assert.deepEqual(cells, ['a', '60m', 'example.com/s', 'u', '120m', state])
  })
}
