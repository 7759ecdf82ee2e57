// From which commit the server was built. The bundler puts the truth in its place; what was not bundled does not know it.

export const buildInfo = {
  commit: '0000000000000000000000000000000000000000',
  treeState: 'archive',
  date: '1970-01-01T00:00:00Z',
} as const
