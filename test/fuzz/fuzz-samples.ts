// Sample objects and reviews that the fuzzer mutates.

import type { Value } from './mutate-value.js'

const template: Value = {
  metadata: { labels: { app: 'a' } },
  spec: {
    containers: [
      { name: 'c', image: 'i', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: 'b' }], resources: { limits: { cpu: '1' } } },
    ],
  },
}
const meta = (name: string): Value => ({ name, labels: { a: 'b' }, annotations: { x: 'y' }, finalizers: ['example.com/x'] })

export interface Sample {
  readonly collection: string
  readonly object: { readonly [key: string]: Value }
  /** Sent as a dry run: it would affect other requests or could not be deleted. */
  readonly isDry?: boolean
}

const customGroup = 'fuzz.example.com'

/** Schema with list types, formats, defaults and CEL rules. */
const customSchema: Value = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      'x-kubernetes-validations': [{ rule: "self.size < 100 || self.names.all(n, n.startsWith('a'))", message: 'too large' }],
      properties: {
        size: { type: 'integer', minimum: 0, default: 1 },
        names: { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 30 }, 'x-kubernetes-list-type': 'set' },
        parts: {
          type: 'array',
          maxItems: 20,
          items: {
            type: 'object',
            required: ['id'],
            properties: { id: { type: 'string', maxLength: 10 }, at: { type: 'string', format: 'date-time' } },
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
        },
        any: { 'x-kubernetes-preserve-unknown-fields': true, type: 'object' },
      },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
}

export const customResourceDefinition = {
  metadata: { name: `widgets.${customGroup}` },
  spec: {
    group: customGroup,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: customSchema },
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
    ],
  },
} satisfies Value

/** Writes in this namespace call a webhook that sends malformed responses. */
export const webhookNamespace = 'fuzz-hooked'

/** Collections, with a sample object each. */
export const samples: readonly Sample[] = [
  {
    collection: '/api/v1/namespaces/fuzz/configmaps',
    object: { metadata: meta('cm'), data: { a: 'b', c: 'd' }, binaryData: { e: 'AAEC' } },
  },
  {
    collection: '/api/v1/namespaces/fuzz/secrets',
    object: { metadata: meta('se'), type: 'Opaque', data: { a: 'Yg==' }, stringData: { c: 'd' } },
  },
  { collection: '/api/v1/namespaces/fuzz/pods', object: { metadata: meta('po'), ...(template as { readonly [key: string]: Value }) } },
  {
    collection: '/api/v1/namespaces/fuzz/services',
    object: { metadata: meta('sv'), spec: { selector: { a: 'b' }, ports: [{ name: 'p', port: 80, protocol: 'TCP', targetPort: 'web' }] } },
  },
  {
    collection: '/apis/apps/v1/namespaces/fuzz/deployments',
    object: { metadata: meta('de'), spec: { replicas: 2, selector: { matchLabels: { app: 'a' } }, template } },
  },
  {
    collection: '/apis/batch/v1/namespaces/fuzz/cronjobs',
    object: { metadata: meta('cj'), spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template } } } },
  },
  { collection: '/api/v1/namespaces', object: { metadata: meta('fuzz-ns'), spec: { finalizers: ['kubernetes'] } } },
  {
    collection: '/apis/rbac.authorization.cluster.io/v1/clusterroles',
    object: { metadata: meta('cr'), rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  },
  {
    collection: `/apis/${customGroup}/v1/namespaces/fuzz/widgets`,
    object: {
      apiVersion: `${customGroup}/v1`,
      kind: 'Widget',
      metadata: meta('wi'),
      spec: { size: 3, names: ['ab'], parts: [{ id: 'a', at: '2026-01-01T00:00:00Z' }], any: { x: [1] } },
    },
  },
  { collection: `/api/v1/namespaces/${webhookNamespace}/configmaps`, object: { metadata: meta('hooked'), data: { a: 'b' } } },
  { collection: '/apis/apiextensions.cluster.io/v1/customresourcedefinitions', isDry: true, object: customResourceDefinition },
  {
    collection: '/apis/admissionregistration.cluster.io/v1/validatingwebhookconfigurations',
    isDry: true,
    object: {
      metadata: meta('vw'),
      webhooks: [
        {
          name: 'a.example.com',
          clientConfig: { url: 'https://127.0.0.1:1/x' },
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: '*' }],
          namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
        },
      ],
    },
  },
  {
    collection: '/apis/flowcontrol.apiserver.cluster.io/v1beta3/flowschemas',
    isDry: true,
    object: {
      metadata: meta('fs'),
      spec: {
        matchingPrecedence: 5000,
        priorityLevelConfiguration: { name: 'global-default' },
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'a' } }],
            resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
          },
        ],
      },
    },
  },
]

interface ReviewSample {
  readonly path: string
  readonly object: Value
}

export const reviews = (token: string): readonly ReviewSample[] => [
  { path: '/apis/authentication.cluster.io/v1/tokenreviews', object: { spec: { token, audiences: ['a'] } } },
  {
    path: '/apis/authorization.cluster.io/v1/subjectaccessreviews',
    object: {
      spec: { user: 'a', groups: ['b'], extra: { c: ['d'] }, resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'fuzz' } },
    },
  },
  { path: '/apis/authorization.cluster.io/v1/selfsubjectrulesreviews', object: { spec: { namespace: 'fuzz' } } },
  {
    path: '/api/v1/namespaces/fuzz/serviceaccounts/default/token',
    object: { spec: { audiences: ['a'], expirationSeconds: 600, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'po', uid: 'x' } } },
  },
]
