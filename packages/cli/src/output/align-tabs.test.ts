// Alignment of tab-separated cells, as Go's text/tabwriter does.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alignTabs } from '../describe/description.js'

test('only cells in consecutive rows form a column', () => {
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
