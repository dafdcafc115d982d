export async function one() { return null }
