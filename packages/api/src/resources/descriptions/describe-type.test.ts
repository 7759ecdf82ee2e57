// Tests of OpenAPI descriptions of types and fields.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeType } from './describe-type.js'

const rows: readonly (readonly [name: string, type: string, field: string | undefined, expected: string])[] = [
  ['a kind has its own description', 'ServiceAccount', undefined, 'Identity of processes in pods, with the secrets that they may use.'],
  ['a list follows from its kind', 'LimitRangeList', undefined, 'List of objects of the kind limit range.'],
  ['a spec follows from its kind', 'DaemonSetSpec', undefined, 'Desired state of a daemon set.'],
  ['a condition follows from its kind', 'APIServiceCondition', undefined, 'Condition of an API service.'],
  ['any other type is described by the words of its name', 'FlowDistinguisherMethod', undefined, 'Flow distinguisher method.'],
  ['a field with a description for its type', 'ResourceClaimSpec', 'resourceClassName', 'ResourceClass, which names the driver.'],
  ['a field with the same meaning everywhere', 'DaemonSetStatus', 'collisionCount', 'Number of name collisions of generated revisions.'],
  ['a description of the type precedes the common one', 'ObjectReference', 'namespace', 'Namespace of the object.'],
  ['apiVersion', 'Pod', 'apiVersion', 'APIVersion defines the API group and version in which this object is written.'],
  ['kind', 'TypeMeta', 'kind', 'Kind is a string value, the name of the type of this object.'],
  ['metadata', 'TypeMeta', 'metadata', "Standard object's metadata."],
  [
    'creationTimestamp',
    'ObjectMeta',
    'creationTimestamp',
    'CreationTimestamp is a timestamp that the server sets when it creates the object.',
  ],
  ['items of a list', 'PodList', 'items', 'List of the objects of this page.'],
  ['watch', 'ListOptions', 'watch', 'Watch for changes to the described resources: the response is a stream of events instead of a list.'],
  ['labelSelector', 'ListOptions', 'labelSelector', 'Restricts the list of returned objects by labels.'],
  ['any other field is described by the words of its name', 'NodeSystemInfo', 'systemUUID', 'System UUID of the node system info.'],
  ['an inherited property such as constructor is an ordinary field', 'Thing', 'constructor', 'Constructor of the thing.'],
  ['an inherited property such as toString is an ordinary type', 'toString', undefined, 'To string.'],
]

for (const [name, type, field, expected] of rows) test(name, () => assert.equal(describeType(type, field), expected))
