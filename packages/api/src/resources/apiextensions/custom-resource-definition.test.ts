// Tests of CustomResourceDefinitions: defaults, validation on create and update, stored versions, status.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle } from '../expect-errors.fixture.js'
import { customResourceDefinition as kind } from './custom-resource-definition.js'
import type {
  CustomResourceDefinition as Crd,
  CustomResourceDefinitionSpec as Spec,
  CustomResourceDefinitionVersion as Version,
} from './v1.schema.js'
import { approvalCondition } from './validation/crd-api-approval.js'

const context = testContext()
const metadata = { name: 'things.a.b', resourceVersion: '1', generation: 1, creationTimestamp: '2024-03-01T11:00:00Z' }
const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
const version: Version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
const valid: Spec = { group: 'a.b', scope: 'Namespaced', names, versions: [version], conversion: { strategy: 'None' } }
const make = (spec: Spec = {}, more: Partial<Crd> = {}): Crd =>
  frozen({ metadata, spec: { ...valid, ...spec }, status: { storedVersions: ['v1'] }, ...more })
const inVersions = (...versions: readonly Partial<Version>[]): Spec => ({ versions: versions.map((one) => ({ ...version, ...one })) })

test('generateName must be the name of the CRD, too', () => {
  const problem = (field: string, text: string) => `${field}: Invalid value: "${text}": must be spec.names.plural+"."+spec.group`
  const named = make({}, { metadata: { ...metadata, generateName: 'x' } })
  assert.deepEqual(lines(validateCreation(kind, named, context)), [problem('metadata.generateName', 'x')])
})

test('an empty webhook is dropped without the strategy Webhook, and storedVersions cannot be emptied', () => {
  const sent = make({ conversion: { strategy: 'None', webhook: { conversionReviewVersions: [] } } }, { status: { storedVersions: [] } })
  const complete = kind.defaults?.(sent, context) as Crd
  assert.deepEqual(complete.spec?.conversion, { strategy: 'None' })
  assert.deepEqual(complete.status, { storedVersions: ['v1'] })
  const webhook = { strategy: 'Webhook', webhook: { conversionReviewVersions: [] } }
  assert.deepEqual((kind.defaults?.(make({ conversion: webhook }), context) as Crd | undefined)?.spec?.conversion, webhook)
})

test('names, conversion and storedVersions are defaulted', () => {
  const sent = frozen({
    metadata,
    spec: {
      ...valid,
      names: { plural: 'things', kind: 'Thing' },
      conversion: { strategy: 'Webhook', webhook: { clientConfig: { service: { name: 's' } } } },
    },
  })
  const complete = kind.defaults?.(sent, context) as Crd
  assert.deepEqual(complete.spec?.names, names)
  assert.deepEqual(complete.spec?.conversion?.webhook?.clientConfig?.service, { name: 's', port: 443 })
  assert.deepEqual(complete.status, { storedVersions: ['v1'] })
  assert.equal(kind.defaults?.(complete, context), complete)
  const bare = kind.defaults?.(frozen({ metadata }), context) as Crd
  assert.deepEqual(bare.spec, { conversion: { strategy: 'None' } })
})

const label = 'a DNS-1035 label must consist of'
const rows: readonly (readonly [spec: Spec, ...expected: readonly string[]])[] = [
  [{}],
  [
    { group: 'nodots' },
    'metadata.name: Invalid value: "things.a.b": must be spec.names.plural+"."+spec.group',
    'spec.group: Invalid value: "nodots": should be a domain with at least one dot',
  ],
  [{ scope: 'Global' }, 'spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"'],
  [{ names: { ...names, listKind: 'Thing' } }, 'spec.names.listKind: Invalid value: "Thing": kind and listKind may not be the same'],
  [
    { names: { ...names, kind: 'A b' } },
    `spec.names.kind: Invalid value: "A b": may have mixed case, but should otherwise match: ${label}`,
  ],
  [{ names: { ...names, shortNames: [''] } }, `spec.names.shortNames[0]: Invalid value: "": ${label}`],
  [
    { versions: [{ name: 'v1', served: true, storage: true }] },
    'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
  ],
  [inVersions({}, { storage: false }), 'spec.versions: Invalid value: ["v1","v1"]: must contain unique version names'],
  [inVersions({ storage: false }), 'spec.versions: Invalid value: ["v1"]: must have exactly one version marked as storage version'],
  [inVersions({ storage: false }, { name: 'v2' }), 'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2'],
  [inVersions({}, { name: '2', storage: false }), `spec.versions[1].name: Invalid value: "2": ${label}`],
  [
    inVersions({ deprecationWarning: 'bye' }),
    'spec.versions[0].deprecationWarning: Invalid value: "bye": can only be set for deprecated versions',
  ],
  [
    inVersions({ name: 'V' }),
    `spec.versions[0].name: Invalid value: "V": ${label}`,
    `spec.version: Invalid value: "V": ${label}`,
    'status.storedVersions: Invalid value: ["v1"]: must have the storage version V',
    'status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions',
  ],
  [
    inVersions({ name: '' }),
    `spec.versions[0].name: Invalid value: "": ${label}`,
    'status.storedVersions: Invalid value: ["v1"]: must have the storage version ',
    'status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions',
  ],
  [
    inVersions({ deprecated: true, deprecationWarning: '' }),
    'spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string',
  ],
  [
    inVersions({ deprecated: true, deprecationWarning: 'é\n' }),
    'spec.versions[0].deprecationWarning: Invalid value: "é\\n": must only contain printable UTF-8 characters; non-printable character found at index 2',
  ],
  [
    { preserveUnknownFields: true },
    'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
  ],
]

for (const [spec, ...expected] of rows) {
  test(`a CRD: ${rowTitle(spec, expected)}`, () => {
    expectErrors(validateCreation(kind, make(spec), context), expected)
  })
}

const column = { name: 'Size', type: 'integer', jsonPath: '.spec.size' }
const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
const versionRows: readonly (readonly [version: Partial<Version>, ...expected: readonly string[]])[] = [
  [{ additionalPrinterColumns: [column] }],
  [
    { additionalPrinterColumns: [{ format: 'x' }] },
    'additionalPrinterColumns[0].name: Required value',
    'additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
    'additionalPrinterColumns[0].format: Invalid value: "x": must be one of byte,date,date-time,double,float,int32,int64,password',
    'additionalPrinterColumns[0].JSONPath: Required value',
  ],
  [
    { additionalPrinterColumns: [{ ...column, jsonPath: 'spec' }] },
    'additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .',
  ],
  [{ subresources: { scale: { ...scale, labelSelectorPath: '.status.selector' } } }],
  [
    { subresources: { scale: { specReplicasPath: '.status.x', labelSelectorPath: '.x' } } },
    'subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec',
    'subresources.scale.statusReplicasPath: Required value',
    'subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
  ],
  [
    { schema: { openAPIV3Schema: { type: 'object', allOf: [{}] } }, subresources: { status: {} } },
    'validation.openAPIV3Schema: Invalid value: {"type":"object","allOf":[{}]}: only [Description Type',
  ],
  [
    { schema: { openAPIV3Schema: { type: 'object', nullable: true } } },
    'validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root',
  ],
]

for (const [version, ...problems] of versionRows) {
  test(`errors shared by all versions have the path of v1beta1: ${rowTitle(version, problems)}`, () => {
    const expected = problems.map((line) => `spec.${line}`)
    expectErrors(validateCreation(kind, make(inVersions(version, { ...version, name: 'v2', storage: false })), context), expected)
  })
}

test('errors of differing versions have the path of the version', () => {
  const bad = {
    schema: { openAPIV3Schema: { type: 'string' } },
    subresources: { scale: {} },
    additionalPrinterColumns: [{ ...column, name: '' }],
  }
  const fields = validateCreation(kind, make(inVersions({}, { ...bad, name: 'v2', storage: false })), context).map(({ field }) => field)
  assert.deepEqual(fields, [
    'spec.versions[1].schema.openAPIV3Schema.type',
    'spec.versions[1].subresources.scale.specReplicasPath',
    'spec.versions[1].subresources.scale.statusReplicasPath',
    'spec.versions[1].additionalPrinterColumns[0].name',
  ])
})

const webhook = { clientConfig: { url: 'https://a/' }, conversionReviewVersions: ['v1'] }
const clientField = 'spec.conversion.webhookClientConfig'
const versions = 'spec.conversion.conversionReviewVersions'
const conversions: readonly (readonly [conversion: NonNullable<Spec['conversion']>, ...expected: readonly string[]])[] = [
  [{ strategy: 'Webhook', webhook }],
  [{ strategy: 'Magic' }, 'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"'],
  [{ strategy: 'Webhook' }, `${clientField}: Required value: required when strategy is set to Webhook`, `${versions}: Required value`],
  [
    { strategy: 'None', webhook },
    `${clientField}: Forbidden: should not be set when strategy is not set to Webhook`,
    `${versions}: Forbidden: should not be set when strategy is not set to Webhook`,
  ],
]

for (const [conversion, ...expected] of conversions) {
  test(`a conversion: ${rowTitle(conversion, expected)}`, () =>
    assert.deepEqual(lines(validateCreation(kind, make({ conversion }), context)), expected))
}

const approval = 'metadata.annotations[api-approved.cluster.io]'
const approvals: readonly (readonly [
  annotation: string,
  noted: readonly [status: string, reason: string, message: RegExp],
  ...expected: readonly string[],
])[] = [
  ['https://example.com/1', ['True', 'ApprovedAnnotation', /^approved in https:\/\/example.com\/1$/]],
  ['unapproved, a test', ['False', 'UnapprovedAnnotation', /^not approved: "unapproved, a test"$/]],
  [
    '',
    ['False', 'MissingAnnotation', /^protected groups must have approval annotation "api-approved.cluster.io", see /],
    `${approval}: Required value: protected groups must have approval annotation "api-approved.cluster.io", see https://github.com/cluster/enhancements/pull/1111`,
  ],
  [
    'yes',
    ['False', 'InvalidAnnotation', /with either a URL or a reason starting with "unapproved", see /],
    `${approval}: Invalid value: "yes": protected groups must have approval annotation "api-approved.cluster.io" with either a URL or a reason starting with "unapproved", see https://github.com/cluster/enhancements/pull/1111`,
  ],
]

for (const [annotation, noted, ...expected] of approvals) {
  test(`api-approved annotation: ${rowTitle(annotation, expected)}`, () => {
    const meta = { ...metadata, name: 'things.x.cluster.io', annotations: { 'api-approved.cluster.io': annotation } }
    const object = make({ group: 'x.cluster.io' }, { metadata: meta })
    assert.deepEqual(lines(validateCreation(kind, object, context)), expected)
    assert.deepEqual(validateChange(kind, { next: object, old: object }, context), [])
    const condition = approvalCondition(object, context.identity)
    assert.deepEqual([condition?.type, condition?.status, condition?.reason], ['KubernetesAPIApprovalPolicyConformant', noted[0], noted[1]])
    assert.match(condition?.message ?? '', noted[2])
    assert.equal(approvalCondition(make({}), context.identity), undefined)
  })
}

const established = { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1'] }
const changes: readonly (readonly [next: Spec, old: Partial<Crd> | undefined, ...expected: readonly string[]])[] = [
  [{ scope: 'Cluster', names: { ...names, kind: 'Other' } }, undefined],
  [
    { scope: 'Cluster', names: { ...names, kind: 'Other', plural: 'others' } },
    { status: established },
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "Other": field is immutable',
    'spec.names.plural: Invalid value: "others": field is immutable',
  ],
  [inVersions({ name: 'v2' }), undefined, 'status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions'],
]

for (const [next, old, ...expected] of changes) {
  test(`update: ${rowTitle(next, expected)}`, () => {
    const before = make({}, old)
    const after = frozen(kind.prepareUpdate?.(make(next), before, context)) as Crd
    assert.deepEqual(lines(validateChange(kind, { next: after, old: before }, context)), expected)
  })
}

test('the storage version is added to storedVersions, and spec changes increase the generation', () => {
  const created = kind.prepareCreate?.(make(inVersions({ name: 'v3' }), { status: established }), context) as Crd
  assert.deepEqual(created.status, { storedVersions: ['v3'] })
  const moved = kind.prepareUpdate?.(make(inVersions({ storage: false }, { name: 'v2' })), make(), context) as Crd
  assert.deepEqual(moved.status?.storedVersions, ['v1', 'v2'])
  assert.equal(moved.metadata?.generation, 2)
  assert.equal(kind.prepareUpdate?.(make(), make(), context).metadata?.generation, 1)
})

test('the status subresource keeps the spec and validates acceptedNames', () => {
  const [status] = kind.subresources ?? []
  const sent = make(
    { scope: 'Cluster' },
    { metadata: { ...metadata, labels: { a: 'b' } }, status: { ...established, acceptedNames: { plural: 'Bad' } } },
  )
  const next = frozen(status?.prepareUpdate(sent, make(), context)) as Crd
  // kube-apiserver accepts metadata changes here.
  assert.deepEqual(next, make({}, { metadata: { ...metadata, labels: { a: 'b' } }, status: sent.status ?? {} }))
  const errors = validateChange(kind, { next, old: make(), ...(status && { subresource: status }) }, context)
  assert.deepEqual(
    errors.map(({ field }) => field),
    ['status.acceptedNames.plural'],
  )
})

test('without the feature gate, new CEL rules are dropped and old ones kept', () => {
  const rules = { 'x-kubernetes-validations': [{ rule: 'true' }] }
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { a: { type: 'array', items: { type: 'string', ...rules } } }, ...rules },
  }
  const without = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } } }
  const off = { ...context, gates: () => false }
  const versionsOf = (object: unknown) => (object as Crd).spec?.versions?.[0]?.schema
  assert.deepEqual(versionsOf(kind.prepareCreate?.(make(inVersions({ schema })), off)), without)
  assert.deepEqual(versionsOf(kind.prepareUpdate?.(make(inVersions({ schema })), make(inVersions({ schema })), off)), schema)
  assert.deepEqual(versionsOf(kind.prepareCreate?.(make(inVersions({ schema })), context)), schema)
})
