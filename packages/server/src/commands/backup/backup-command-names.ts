// Names of the commands that copy a store, in a separate file because the server does not load their code.

export const backupCommands = ['backup', 'restore', 'migrate'] as const
export type BackupCommand = (typeof backupCommands)[number]
