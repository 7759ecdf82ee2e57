// Columns that tabs make.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alignTabs } from './align-tabs.js'

test('what stands directly below one another is a column, whatever stands further away', () => {
  const lines = [
    'Name:\tweb',
    'Namespace:\tdefault',
    'Labels:\ta=b',
    '\tc=d',
    'Rules:',
    '  Host\tPath\tTo',
    '  a.example',
    '  \t/\tweb:80',
    'Long title:\tx',
  ]
  assert.deepEqual(alignTabs(lines), [
    'Name:       web',
    'Namespace:  default',
    'Labels:     a=b',
    '            c=d',
    'Rules:',
    '  Host  Path  To',
    '  a.example',
    '             /  web:80',
    'Long title:  x',
  ])
  assert.deepEqual(alignTabs([]), [])
})
