// Tests of pod scheduling: affinity, tolerations, topology spread, gates, DNS configuration.

import { test } from 'node:test'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import type { PodSpec, Toleration } from '../v1.schema.js'
import { contextWith, type Row, specErrors } from './pod-spec.fixture.js'
import { validateAddedTolerations, validateRemovedGates } from './scheduling.js'

const requiredField = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferredField = 'preferredDuringSchedulingIgnoredDuringExecution'
const nodePath = 'spec.affinity.nodeAffinity'
const antiPath = 'spec.affinity.podAntiAffinity'
const spreadPath = 'spec.topologySpreadConstraints'

const rows: readonly Row<PodSpec>[] = [
  [
    {
      affinity: {
        nodeAffinity: {
          [requiredField]: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'a', operator: 'In' },
                  { key: 'b', operator: 'Near' },
                ],
              },
            ],
          },
          [preferredField]: [{ weight: 0, preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] } }],
        },
      },
    },
    `${nodePath}.${requiredField}.nodeSelectorTerms[0].matchExpressions[0].values: Required value`,
    `${nodePath}.${requiredField}.nodeSelectorTerms[0].matchExpressions[1].operator: Invalid value: "Near": not a valid selector operator`,
    `${nodePath}.${preferredField}[0].weight: Invalid value: 0: must be in the range 1-100`,
  ],
  [
    {
      affinity: {
        podAntiAffinity: {
          [requiredField]: [{ namespaces: ['A'], labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] } }],
          [preferredField]: [{ weight: 101, podAffinityTerm: { topologyKey: 'a', namespaceSelector: { matchLabels: { a: 'not ok' } } } }],
        },
      },
    },
    `${antiPath}.${requiredField}[0].labelSelector.matchExpressions[0].values: Forbidden: may not be specified`,
    `${antiPath}.${requiredField}[0].namespace: Invalid value: "A"`,
    `${antiPath}.${requiredField}[0].topologyKey: Required value: can not be empty`,
    `${antiPath}.${requiredField}[0].topologyKey: Invalid value: "": name part must be non-empty`,
    `${antiPath}.${requiredField}[0].topologyKey: Invalid value: "": name part must consist`,
    `${antiPath}.${preferredField}[0].weight: Invalid value: 101: must be in the range 1-100`,
    `${antiPath}.${preferredField}[0].podAffinityTerm.namespaceSelector.matchLabels: Invalid value: "not ok"`,
  ],
  [
    {
      tolerations: [
        { operator: 'Near' },
        { key: 'a', operator: 'Exists', value: 'x' },
        { value: 'not ok' },
        { key: 'a', effect: 'Never' },
        { key: 'a b', effect: 'NoSchedule', tolerationSeconds: 5 },
      ],
    },
    'spec.tolerations[0].operator: Invalid value: "Near": operator must be Exists when `key` is empty',
    'spec.tolerations[0].operator: Unsupported value: "Near": supported values: "Equal", "Exists"',
    'spec.tolerations[1].operator: Invalid value: {"key":"a","operator":"Exists","value":"x"}: value must be empty when',
    'spec.tolerations[2].operator: Invalid value: "": operator must be Exists',
    'spec.tolerations[2].operator: Invalid value: "not ok": a valid label must',
    'spec.tolerations[3].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    'spec.tolerations[4].key: Invalid value: "a b"',
    'spec.tolerations[4].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
  ],
  [
    {
      topologySpreadConstraints: [
        { maxSkew: 0, whenUnsatisfiable: 'Retry', minDomains: 0, nodeTaintsPolicy: 'Mock' },
        {
          maxSkew: 1,
          topologyKey: 'z',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { a: 'b' } },
          matchLabelKeys: ['a', 'b c'],
        },
        { maxSkew: 2, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
        {
          maxSkew: 1,
          topologyKey: 'y',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: { a: '!' }, matchExpressions: [{ key: 'a b', operator: 'Bogus' }] },
        },
      ],
    },
    `${spreadPath}[0].maxSkew: Invalid value: 0: must be greater than zero`,
    `${spreadPath}[0].topologyKey: Required value: can not be empty`,
    `${spreadPath}[0].whenUnsatisfiable: Unsupported value: "Retry": supported values: "DoNotSchedule", "ScheduleAnyway"`,
    `${spreadPath}[0].minDomains: Invalid value: 0: must be greater than zero`,
    `${spreadPath}[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not Retry`,
    `${spreadPath}[0].nodeTaintsPolicy: Unsupported value: "Mock": supported values: "Honor", "Ignore"`,
    `${spreadPath}[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"`,
    `${spreadPath}[1].matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector`,
    `${spreadPath}[1].matchLabelKeys[1]: Invalid value: "b c"`,
  ],
  [
    { readinessGates: [{ conditionType: 'a b' }], schedulingGates: [{}, { name: 'x' }, { name: 'x' }] },
    'spec.readinessGates[0].conditionType: Invalid value: "a b"',
    'spec.schedulingGates[0]: Required value: must not be empty',
    'spec.schedulingGates[2]: Duplicate value: "x"',
  ],
  [
    {
      restartPolicy: 'Sometimes',
      dnsPolicy: 'None',
      activeDeadlineSeconds: 0,
      nodeSelector: { a: 'not ok' },
      hostname: 'Not.A.Label',
      subdomain: 'x_y',
      nodeName: 'N',
      priorityClassName: 'P',
      runtimeClassName: '',
      serviceAccountName: 'S',
      preemptionPolicy: 'Maybe',
    },
    'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    'spec.nodeSelector: Invalid value: "not ok"',
    'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None',
    'spec.serviceAccountName: Invalid value: "S"',
    'spec.nodeName: Invalid value: "N"',
    'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
    'spec.hostname: Invalid value: "Not.A.Label"',
    'spec.subdomain: Invalid value: "x_y"',
    'spec.priorityClassName: Invalid value: "P"',
    'spec.runtimeClassName: Invalid value: ""',
    'spec.preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"',
  ],
  [
    {
      dnsPolicy: 'Rumour',
      dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '::1', 'x'], searches: ['a.b.', 'A'], options: [{ value: 'x' }] },
      hostAliases: [{ ip: 'x', hostnames: ['a', 'B'] }],
    },
    'spec.dnsPolicy: Unsupported value: "Rumour": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","::1","x"]: must not have more than 3 nameservers',
    'spec.dnsConfig.nameservers[3]: Invalid value: "x": must be valid IP address',
    'spec.dnsConfig.searches[1]: Invalid value: "A"',
    'spec.dnsConfig.options[0]: Required value: must not be empty',
    'spec.hostAliases.ip: Invalid value: "x": must be valid IP address',
    'spec.hostAliases.hostnames: Invalid value: "B"',
  ],
  [
    { dnsPolicy: 'None', dnsConfig: {} },
    'spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
  ],
]

for (const [given, ...expected] of rows) test(`a pod: ${rowTitle(given, expected)}`, () => expectErrors(specErrors(given), expected))

test('ExpandedDNSConfig allows more search paths', () => {
  const searches = Array.from({ length: 7 }, (_, i) => `a${i}`)
  expectErrors(specErrors({ dnsConfig: { searches } }), [])
  expectErrors(specErrors({ dnsConfig: { searches } }, contextWith({ gates: () => false })), [
    'spec.dnsConfig.searches: Invalid value: ["a0","a1","a2","a3","a4","a5","a6"]: must not have more than 6 search paths',
  ])
})

const a: Toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute' }
const b: Toleration = { key: 'b', operator: 'Exists' }
const changes: readonly (readonly [title: string, old: readonly Toleration[], next: readonly Toleration[], isAccepted: boolean])[] = [
  ['an additional toleration', [a], [a, b], true],
  ['a different order', [a, b], [b, a], true],
  ['changed tolerationSeconds', [{ ...a, tolerationSeconds: 5 }], [{ ...a, tolerationSeconds: 6 }], true],
  ['a removed toleration', [a, b], [b], false],
  ['a changed effect', [b], [{ ...b, effect: 'NoSchedule' }], false],
]
for (const [title, old, next, isAccepted] of changes) {
  test(`tolerations updated with ${title} are ${isAccepted ? 'accepted' : 'rejected'}`, () =>
    expectErrors(
      validateAddedTolerations(next, old, 'spec.tolerations'),
      isAccepted ? [] : ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
    ))
}

test('scheduling gates may only be removed', () => {
  expectErrors(validateRemovedGates([{ name: 'a' }], [{ name: 'a' }, { name: 'b' }], 'g'), [])
  expectErrors(validateRemovedGates([{ name: 'a' }, { name: 'c' }], [{ name: 'a' }], 'g'), [
    "g[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'",
  ])
})
