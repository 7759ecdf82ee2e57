// The names of the commands that move data, apart from what they do, so that whoever starts a server does not load it.

export const moveCommands = ['backup', 'restore', 'migrate'] as const
export type MoveCommand = (typeof moveCommands)[number]
