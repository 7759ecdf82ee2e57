// Printer columns that most kinds share: Name, Age, and text columns.

import type { Column } from './resource-definition.js'

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique within its scope.',
}

export const ageColumn: Column = { name: 'Age', type: 'string', description: 'Time since the object was created.' }

export const textColumn = (name: string, description: string, priority = 0): Column => ({
  name,
  type: 'string',
  description,
  ...(priority === 0 ? {} : { priority }),
})
