// Where the sentence about a type or a field comes from.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeType } from './describe-type.js'

const rows: readonly (readonly [name: string, type: string, field: string | undefined, expected: string])[] = [
  ['a kind has its own sentence', 'ServiceAccount', undefined, 'An identity for programs, with secrets that pods running as it may use.'],
  ['a list follows from its kind', 'LimitRangeList', undefined, 'A page of a collection of objects of the kind limit range.'],
  ['a spec follows from its kind', 'DaemonSetSpec', undefined, 'What is wanted of a daemon set.'],
  [
    'a condition follows from its kind',
    'APIServiceCondition',
    undefined,
    'One aspect of the state of an API service, and since when it is so.',
  ],
  [
    'any other type is put into words',
    'FlowDistinguisherMethod',
    undefined,
    'The part of an object that is called flow distinguisher method.',
  ],
  ['a field of a specified type', 'ResourceClaimSpec', 'resourceClassName', 'The class, which names the driver.'],
  ['a field that means the same everywhere', 'DaemonSetStatus', 'collisionCount', 'How often a name that was made was taken already.'],
  ['its own sentence goes before the common one', 'ObjectReference', 'namespace', 'The namespace of the object.'],
  ['any other field is put into words', 'NodeSystemInfo', 'systemUUID', 'The system UUID of the node system info.'],
  ['names of what every JavaScript object has are names like others', 'Thing', 'constructor', 'The constructor of the thing.'],
  ['and so for types', 'toString', undefined, 'The part of an object that is called to string.'],
]

for (const [name, type, field, expected] of rows) test(name, () => assert.equal(describeType(type, field), expected))
