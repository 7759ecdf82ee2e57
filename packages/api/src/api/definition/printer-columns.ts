// The columns that nearly every kind has in its table.

import type { Column } from './definition.js'

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique within its scope.',
}

export const ageColumn: Column = { name: 'Age', type: 'string', description: 'Time since the object was created.' }

/** A column of text (or of anything, as counts are declared as text too). */
export const textColumn = (name: string, description: string, priority = 0): Column => ({
  name,
  type: 'string',
  description,
  ...(priority === 0 ? {} : { priority }),
})
