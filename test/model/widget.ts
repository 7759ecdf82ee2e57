// CustomResourceDefinition Widget of the model-based tests (model.ts). Its fields cover types, limits, defaults, null, list types, pruning.

import type { Schema } from './schema.js'

const text: Schema = { type: 'string' }

const spec: Schema = {
  type: 'object',
  properties: {
    s: { type: 'string', maxLength: 5 },
    i: { type: 'integer' },
    e: { type: 'integer', enum: [1, 2, 3] },
    f: { type: 'integer', multipleOf: 5, minimum: -100 },
    n: { type: 'number', maximum: 1e18 },
    b: { type: 'boolean' },
    d: { type: 'integer', default: 7 },
    big: { type: 'integer', default: 9007199254740993n },
    ns: { type: 'string', nullable: true },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    lm: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: text, v: { type: 'integer' }, w: { type: 'string', nullable: true } } },
    },
    at: { type: 'array', items: { type: 'object', required: ['x'], properties: { x: text, y: { type: 'string', nullable: true } } } },
    m: { type: 'object', additionalProperties: text },
    o: { type: 'object', properties: { a: { type: 'string', default: 'x' }, b: { type: 'integer' } } },
    p: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
}

const labels: Schema = { type: 'object', additionalProperties: text }

/** Schema of the fields that the model compares. */
export const widgetSchema: Schema = {
  type: 'object',
  properties: { metadata: { type: 'object', properties: { labels, annotations: labels } }, spec },
}

export const group = 'model.example.com'

export const widgetCrd = {
  apiVersion: 'apiextensions.cluster.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
  },
}
