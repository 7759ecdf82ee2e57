// Who writes which part of a request for a certificate, and what each part must be.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext, testNow } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { timeOf } from '../../schema/scalars.js'
import { encodeText } from '../core/base64-text.js'
import { certificateSigningRequest as definition } from './certificate-signing-request.js'
import { certificate, request } from './requests.fixture.js'
import type { CertificateSigningRequest, CertificateSigningRequestCondition as Condition } from './v1.schema.js'

const context = testContext()
const metadata = { name: 'a', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
type Spec = NonNullable<CertificateSigningRequest['spec']>
type Status = NonNullable<CertificateSigningRequest['status']>
const spec: Spec = { request, signerName: 'example.com/s', usages: ['client auth'], username: 'u', groups: ['g'] }
const make = (more: Spec = {}, status: Status = {}): CertificateSigningRequest => frozen({ metadata, spec: { ...spec, ...more }, status })

test('who asks is the sender, and nobody approves in advance', () => {
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
const rows: readonly { readonly title: string; readonly spec: Spec; readonly found: readonly string[] }[] = [
  { title: 'everything', spec: { expirationSeconds: 600 }, found: [] },
  {
    title: 'a request that is none',
    spec: { request: encodeText('nope') },
    found: ['request: Invalid value: "bm9wZQ==": PEM block type must be CERTIFICATE REQUEST'],
  },
  {
    title: 'a PEM block with something else in it',
    spec: { request: encodeText('-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n') },
    found: [
      'request: Invalid value: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KQUFBQQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K": the PEM block must hold a PKCS#10 certificate request',
    ],
  },
  { title: 'no usages', spec: { usages: [] }, found: ['usages: Required value'] },
  { title: 'a usage twice', spec: { usages: ['any', 'any'] }, found: ['usages[1]: Duplicate value: "any"'] },
  { title: 'no signer', spec: { signerName: '' }, found: ['signerName: Required value'] },
  {
    title: 'a signer without domain',
    spec: { signerName: 'x' },
    found: [`${signer} "x": must be a fully qualified domain and path of the form 'example.com/signer-name'`],
  },
  {
    title: 'a signer of one word',
    spec: { signerName: 'x/y' },
    found: [`${signer} "x": should be a domain with at least two segments separated by dots`],
  },
  {
    title: 'the old signer',
    spec: { signerName: 'cluster.io/legacy-unknown' },
    found: [`${signer} "cluster.io/legacy-unknown": the legacy signerName is not allowed via this API version`],
  },
  {
    title: 'a short time',
    spec: { expirationSeconds: 599 },
    found: ['expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)'],
  },
]

for (const row of rows) {
  test(`create with ${row.title}`, () => {
    assert.deepEqual(
      lines(validateCreation(definition, make(row.spec), context)),
      row.found.map((line) => `spec.${line}`),
    )
  })
}

test('a usage that nobody knows', () => {
  const [error] = validateCreation(definition, make({ usages: ['eating'] }), context)
  assert.equal(error?.field, 'spec.usages[0]')
  assert.match(error?.message ?? '', /^Unsupported value: "eating": supported values: "any", .*"timestamping"$/)
})

test('the main resource changes neither spec nor status', () => {
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

test('an approval writes conditions, with the time, and no certificate', () => {
  const { next, errors } = write('approval', make({}, { conditions: [approved], certificate }), make())
  assert.deepEqual(errors, [])
  assert.deepEqual(next.status, { conditions: [{ ...approved, ...times }] })
})

const earlier = { ...approved, lastUpdateTime: '2024-01-01T00:00:00Z', lastTransitionTime: '2024-01-01T00:00:00Z' }
const changes: readonly {
  readonly title: string
  readonly by: string
  readonly old: Status
  readonly sent: Status
  readonly found: readonly string[]
}[] = [
  {
    title: 'a decision that is none',
    by: 'approval',
    old: {},
    sent: { conditions: [{ type: 'Approved', status: 'False' }] },
    found: ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
  },
  {
    title: 'both decisions',
    by: 'approval',
    old: {},
    sent: { conditions: [approved, { type: 'Denied', status: 'True' }] },
    found: ['status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'],
  },
  {
    title: 'a decision taken back',
    by: 'approval',
    old: { conditions: [earlier] },
    sent: {},
    found: ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
  },
  {
    title: 'a condition of no type and no status',
    by: 'approval',
    old: {},
    sent: { conditions: [{}] },
    found: ['status.conditions[0].type: Required value', 'status.conditions[0].status: Required value'],
  },
  {
    title: 'a decision by the signer',
    by: 'status',
    old: {},
    sent: { conditions: [approved] },
    found: ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
  },
  {
    title: 'a failure',
    by: 'status',
    old: { conditions: [earlier] },
    sent: { conditions: [earlier, { type: 'Failed', status: 'True' }] },
    found: [],
  },
  { title: 'a certificate', by: 'status', old: {}, sent: { certificate }, found: [] },
  {
    title: 'no certificate',
    by: 'status',
    old: {},
    sent: { certificate: encodeText('x') },
    found: ['status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block'],
  },
  {
    title: 'a request for a certificate',
    by: 'status',
    old: {},
    sent: { certificate: request },
    found: [
      'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
    ],
  },
  {
    title: 'a certificate taken away',
    by: 'status',
    old: { certificate },
    sent: {},
    found: ['status.certificate: Forbidden: updates may not modify existing certificate content'],
  },
]

for (const { title, by, old, sent, found } of changes) {
  test(`${by} writes ${title}`, () => assert.deepEqual(write(by, make({}, sent), make({}, old)).errors, found))
}

test('the signer leaves a decision as it was, whatever it sends', () => {
  const { next, errors } = write(
    'status',
    make({}, { conditions: [{ ...approved, message: 'mine' }] }),
    make({}, { conditions: [earlier] }),
  )
  assert.deepEqual(errors, [])
  assert.deepEqual(next.status?.conditions, [earlier])
})

const states: readonly { readonly title: string; readonly status: Status; readonly state: string }[] = [
  { title: 'Pending', status: {}, state: 'Pending' },
  { title: 'issued', status: { conditions: [approved], certificate }, state: 'Approved,Issued' },
  { title: 'denied and failed', status: { conditions: [{ type: 'Denied' }, { type: 'Failed' }] }, state: 'Denied,Failed' },
]

for (const { title, status, state } of states) {
  test(`a row of the table that is ${title}`, () => {
    const cells = definition.table?.cells(make({ expirationSeconds: 7200 }, status), context)
    assert.deepEqual(cells, ['a', '60m', 'example.com/s', 'u', '120m', state])
  })
}
