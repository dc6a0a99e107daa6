export const chart = () => ''
