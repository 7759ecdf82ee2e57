// Sets and removes annotations.

import { mapCommand } from '../change-map.js'

export const command = mapCommand({
  command: 'annotate',
  member: 'annotations',
  done: 'annotated',
  undone: 'annotated',
  same: 'annotated',
})
