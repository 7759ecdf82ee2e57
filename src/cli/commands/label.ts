// Sets and removes labels.

import { mapCommand } from '../change-map.js'

export const command = mapCommand({ command: 'label', member: 'labels', done: 'labeled', undone: 'unlabeled', same: 'not labeled' })
