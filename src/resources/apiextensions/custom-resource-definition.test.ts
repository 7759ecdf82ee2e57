// What definitions of custom kinds default to, must be, and may change into.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { approvalCondition } from './api-approval.js'
import { customResourceDefinition as definition } from './custom-resource-definition.js'
import type {
  CustomResourceDefinition as Definition,
  CustomResourceDefinitionSpec as Spec,
  CustomResourceDefinitionVersion as Version,
} from './v1.schema.js'

const context = testContext()
const metadata = { name: 'things.a.b', resourceVersion: '1', generation: 1, creationTimestamp: '2024-03-01T11:00:00Z' }
const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' }
const version: Version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
const good: Spec = { group: 'a.b', scope: 'Namespaced', names, versions: [version], conversion: { strategy: 'None' } }
const make = (spec: Spec = {}, more: Partial<Definition> = {}): Definition =>
  frozen({ metadata, spec: { ...good, ...spec }, status: { storedVersions: ['v1'] }, ...more })
const inVersions = (...versions: readonly Partial<Version>[]): Spec => ({ versions: versions.map((one) => ({ ...version, ...one })) })

test('names, conversion and the stored version are filled in', () => {
  const sent = frozen({
    metadata,
    spec: {
      ...good,
      names: { plural: 'things', kind: 'Thing' },
      conversion: { strategy: 'Webhook', webhook: { clientConfig: { service: { name: 's' } } } },
    },
  })
  const complete = definition.defaults?.(sent, context) as Definition
  assert.deepEqual(complete.spec?.names, names)
  assert.deepEqual(complete.spec?.conversion?.webhook?.clientConfig?.service, { name: 's', port: 443 })
  assert.deepEqual(complete.status, { storedVersions: ['v1'] })
  assert.equal(definition.defaults?.(complete, context), complete)
  const bare = definition.defaults?.(frozen({ metadata }), context) as Definition
  assert.deepEqual(bare.spec, { conversion: { strategy: 'None' } })
})

const label = 'a DNS-1035 label must consist of'
const rows: readonly { readonly title: string; readonly spec: Spec; readonly found: readonly string[] }[] = [
  { title: 'one version', spec: {}, found: [] },
  {
    title: 'a group of one word',
    spec: { group: 'nodots' },
    found: [
      'metadata.name: Invalid value: "things.a.b": must be spec.names.plural+"."+spec.group',
      'spec.group: Invalid value: "nodots": should be a domain with at least one dot',
    ],
  },
  {
    title: 'another scope',
    spec: { scope: 'Global' },
    found: ['spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"'],
  },
  {
    title: 'kind and list of one name',
    spec: { names: { ...names, listKind: 'Thing' } },
    found: ['spec.names.listKind: Invalid value: "Thing": kind and listKind may not be the same'],
  },
  {
    title: 'a kind of two words',
    spec: { names: { ...names, kind: 'A b' } },
    found: [`spec.names.kind: Invalid value: "A b": may have mixed case, but should otherwise match: ${label}`],
  },
  {
    title: 'an empty short name',
    spec: { names: { ...names, shortNames: [''] } },
    found: [`spec.names.shortNames[0]: Invalid value: "": ${label}`],
  },
  {
    title: 'no schema',
    spec: { versions: [{ name: 'v1', served: true, storage: true }] },
    found: ['spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required'],
  },
  {
    title: 'one version twice',
    spec: inVersions({}, { storage: false }),
    found: ['spec.versions: Invalid value: ["v1","v1"]: must contain unique version names'],
  },
  {
    title: 'no storage version',
    spec: inVersions({ storage: false }),
    found: ['spec.versions: Invalid value: ["v1"]: must have exactly one version marked as storage version'],
  },
  {
    title: 'a storage version that nothing is stored in',
    spec: inVersions({ storage: false }, { name: 'v2' }),
    found: ['status.storedVersions: Invalid value: ["v1"]: must have the storage version v2'],
  },
  {
    title: 'a bad name of a version',
    spec: inVersions({}, { name: '2', storage: false }),
    found: [`spec.versions[1].name: Invalid value: "2": ${label}`],
  },
  {
    title: 'a warning without cause',
    spec: inVersions({ deprecationWarning: 'bye' }),
    found: ['spec.versions[0].deprecationWarning: Invalid value: "bye": can only be set for deprecated versions'],
  },
  {
    title: 'a first version that has a wrong name',
    spec: inVersions({ name: 'V' }),
    found: [
      `spec.versions[0].name: Invalid value: "V": ${label}`,
      `spec.version: Invalid value: "V": ${label}`,
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version V',
      'status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions',
    ],
  },
  {
    title: 'a first version without a name',
    spec: inVersions({ name: '' }),
    found: [
      `spec.versions[0].name: Invalid value: "": ${label}`,
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version ',
      'status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions',
    ],
  },
  {
    title: 'an empty warning',
    spec: inVersions({ deprecated: true, deprecationWarning: '' }),
    found: ['spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string'],
  },
  {
    title: 'a warning of two lines',
    spec: inVersions({ deprecated: true, deprecationWarning: 'é\n' }),
    found: [
      'spec.versions[0].deprecationWarning: Invalid value: "é\\n": must only contain printable UTF-8 characters; non-printable character found at index 2',
    ],
  },
  {
    title: 'unknown members kept',
    spec: { preserveUnknownFields: true },
    found: [
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  },
]

for (const { title, spec, found } of rows) {
  test(`a definition with ${title}`, () => {
    const errors = lines(validateCreation(definition, make(spec), context))
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, found[i]?.length)),
      found,
    )
  })
}

const column = { name: 'Size', type: 'integer', jsonPath: '.spec.size' }
const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
const parts: readonly { readonly title: string; readonly version: Partial<Version>; readonly found: readonly string[] }[] = [
  { title: 'a column', version: { additionalPrinterColumns: [column] }, found: [] },
  {
    title: 'an empty column',
    version: { additionalPrinterColumns: [{ format: 'x' }] },
    found: [
      'additionalPrinterColumns[0].name: Required value',
      'additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
      'additionalPrinterColumns[0].format: Invalid value: "x": must be one of byte,date,date-time,double,float,int32,int64,password',
      'additionalPrinterColumns[0].JSONPath: Required value',
    ],
  },
  {
    title: 'a column without dot',
    version: { additionalPrinterColumns: [{ ...column, jsonPath: 'spec' }] },
    found: ['additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .'],
  },
  { title: 'a scale', version: { subresources: { scale: { ...scale, labelSelectorPath: '.status.selector' } } }, found: [] },
  {
    title: 'a scale from elsewhere',
    version: { subresources: { scale: { specReplicasPath: '.status.x', labelSelectorPath: '.x' } } },
    found: [
      'subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec',
      'subresources.scale.statusReplicasPath: Required value',
      'subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
    ],
  },
  {
    title: 'choices at the root and a status',
    version: { schema: { openAPIV3Schema: { type: 'object', allOf: [{}] } }, subresources: { status: {} } },
    found: ['validation.openAPIV3Schema: Invalid value: {"type":"object","allOf":[{}]}: only [Description Type'],
  },
  {
    title: 'a root that may be null',
    version: { schema: { openAPIV3Schema: { type: 'object', nullable: true } } },
    found: ['validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root'],
  },
]

for (const row of parts) {
  test(`what all versions share, with ${row.title}`, () => {
    const errors = lines(
      validateCreation(definition, make(inVersions(row.version, { ...row.version, name: 'v2', storage: false })), context),
    )
    const found = row.found.map((line) => `spec.${line}`)
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, found[i]?.length)),
      found,
    )
  })
}

test('what differs is spoken of in its version', () => {
  const bad = {
    schema: { openAPIV3Schema: { type: 'string' } },
    subresources: { scale: {} },
    additionalPrinterColumns: [{ ...column, name: '' }],
  }
  const fields = validateCreation(definition, make(inVersions({}, { ...bad, name: 'v2', storage: false })), context).map(
    ({ field }) => field,
  )
  assert.deepEqual(fields, [
    'spec.versions[1].schema.openAPIV3Schema.type',
    'spec.versions[1].subresources.scale.specReplicasPath',
    'spec.versions[1].subresources.scale.statusReplicasPath',
    'spec.versions[1].additionalPrinterColumns[0].name',
  ])
})

const webhook = { clientConfig: { url: 'https://a/' }, conversionReviewVersions: ['v1'] }
const client = 'spec.conversion.webhookClientConfig'
const versions = 'spec.conversion.conversionReviewVersions'
const conversions: readonly {
  readonly title: string
  readonly conversion: NonNullable<Spec['conversion']>
  readonly found: readonly string[]
}[] = [
  { title: 'a webhook', conversion: { strategy: 'Webhook', webhook }, found: [] },
  {
    title: 'magic',
    conversion: { strategy: 'Magic' },
    found: ['spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"'],
  },
  {
    title: 'nothing to call',
    conversion: { strategy: 'Webhook' },
    found: [`${client}: Required value: required when strategy is set to Webhook`, `${versions}: Required value`],
  },
  {
    title: 'a webhook that is not called',
    conversion: { strategy: 'None', webhook },
    found: [
      `${client}: Forbidden: should not be set when strategy is not set to Webhook`,
      `${versions}: Forbidden: should not be set when strategy is not set to Webhook`,
    ],
  },
]

for (const { title, conversion, found } of conversions) {
  test(`a conversion by ${title}`, () => assert.deepEqual(lines(validateCreation(definition, make({ conversion }), context)), found))
}

const approval = 'metadata.annotations[api-approved.cluster.io]'
const approvals: readonly {
  readonly title: string
  readonly annotation: string
  readonly found: readonly string[]
  readonly noted: readonly [status: string, reason: string, message: RegExp]
}[] = [
  {
    title: 'a place',
    annotation: 'https://example.com/1',
    found: [],
    noted: ['True', 'ApprovedAnnotation', /^approved in https:\/\/example.com\/1$/],
  },
  {
    title: 'none, frankly',
    annotation: 'unapproved, a test',
    found: [],
    noted: ['False', 'UnapprovedAnnotation', /^not approved: "unapproved, a test"$/],
  },
  {
    title: 'no word',
    annotation: '',
    noted: ['False', 'MissingAnnotation', /^protected groups must have approval annotation "api-approved.cluster.io", see /],
    found: [
      `${approval}: Required value: protected groups must have approval annotation "api-approved.cluster.io", see https://github.com/cluster/enhancements/pull/1111`,
    ],
  },
  {
    title: 'some word',
    annotation: 'yes',
    noted: ['False', 'InvalidAnnotation', /with either a URL or a reason starting with "unapproved", see /],
    found: [
      `${approval}: Invalid value: "yes": protected groups must have approval annotation "api-approved.cluster.io" with either a URL or a reason starting with "unapproved", see https://github.com/cluster/enhancements/pull/1111`,
    ],
  },
]

for (const { title, annotation, found, noted } of approvals) {
  test(`a kind of the system, approved in ${title}`, () => {
    const meta = { ...metadata, name: 'things.x.cluster.io', annotations: { 'api-approved.cluster.io': annotation } }
    const object = make({ group: 'x.cluster.io' }, { metadata: meta })
    assert.deepEqual(lines(validateCreation(definition, object, context)), found)
    assert.deepEqual(validateChange(definition, { next: object, old: object }, context), [])
    const condition = approvalCondition(object, context.identity)
    assert.deepEqual([condition?.type, condition?.status, condition?.reason], ['KubernetesAPIApprovalPolicyConformant', noted[0], noted[1]])
    assert.match(condition?.message ?? '', noted[2])
    assert.equal(approvalCondition(make({}), context.identity), undefined)
  })
}

const established = { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1'] }
const changes: readonly {
  readonly title: string
  readonly next: Spec
  readonly old?: Partial<Definition>
  readonly found: readonly string[]
}[] = [
  { title: 'a kind that nobody uses yet', next: { scope: 'Cluster', names: { ...names, kind: 'Other' } }, found: [] },
  {
    title: 'an established kind',
    next: { scope: 'Cluster', names: { ...names, kind: 'Other', plural: 'others' } },
    old: { status: established },
    found: [
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Other": field is immutable',
      'spec.names.plural: Invalid value: "others": field is immutable',
    ],
  },
  {
    title: 'a version away in which objects are stored',
    next: inVersions({ name: 'v2' }),
    found: ['status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions'],
  },
]

for (const { title, next, old, found } of changes) {
  test(`changing ${title}`, () => {
    const before = make({}, old)
    const after = frozen(definition.prepareUpdate?.(make(next), before, context)) as Definition
    assert.deepEqual(lines(validateChange(definition, { next: after, old: before }, context)), found)
  })
}

test('the storage version is remembered, and changes are counted', () => {
  const created = definition.prepareCreate?.(make(inVersions({ name: 'v3' }), { status: established }), context) as Definition
  assert.deepEqual(created.status, { storedVersions: ['v3'] })
  const moved = definition.prepareUpdate?.(make(inVersions({ storage: false }, { name: 'v2' })), make(), context) as Definition
  assert.deepEqual(moved.status?.storedVersions, ['v1', 'v2'])
  assert.equal(moved.metadata?.generation, 2)
  assert.equal(definition.prepareUpdate?.(make(), make(), context).metadata?.generation, 1)
})

test('the status is written apart, and names in it are checked', () => {
  const [status] = definition.subresources ?? []
  const sent = make(
    { scope: 'Cluster' },
    { metadata: { ...metadata, labels: { a: 'b' } }, status: { ...established, acceptedNames: { plural: 'Bad' } } },
  )
  const next = frozen(status?.prepareUpdate(sent, make(), context)) as Definition
  // The reference takes what is said of metadata here.
  assert.deepEqual(next, make({}, { metadata: { ...metadata, labels: { a: 'b' } }, status: sent.status ?? {} }))
  const errors = validateChange(definition, { next, old: make(), ...(status && { subresource: status }) }, context)
  assert.deepEqual(
    errors.map(({ field }) => field),
    ['status.acceptedNames.plural'],
  )
})

test('without the feature, new expressions are dropped and old ones kept', () => {
  const rules = { 'x-kubernetes-validations': [{ rule: 'true' }] }
  const schema = {
    openAPIV3Schema: { type: 'object', properties: { a: { type: 'array', items: { type: 'string', ...rules } } }, ...rules },
  }
  const without = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } } }
  const off = { ...context, gates: () => false }
  const versionsOf = (object: unknown) => (object as Definition).spec?.versions?.[0]?.schema
  assert.deepEqual(versionsOf(definition.prepareCreate?.(make(inVersions({ schema })), off)), without)
  assert.deepEqual(versionsOf(definition.prepareUpdate?.(make(inVersions({ schema })), make(inVersions({ schema })), off)), schema)
  assert.deepEqual(versionsOf(definition.prepareCreate?.(make(inVersions({ schema })), context)), schema)
})
